"""What the API server refused before a pod existed."""
