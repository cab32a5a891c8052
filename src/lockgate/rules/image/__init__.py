"""Images that cannot be had, or do not run: of the driver container, and of the workload."""
