"""What changes the world: files, atomically and only when they differ, and services."""
