"""The doors of a node: files under a root, processes, the container runtime, the driver."""
