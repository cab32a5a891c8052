"""What dynamic resource allocation cannot give: claims, classes, devices of drivers."""
