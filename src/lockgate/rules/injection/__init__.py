"""Faults while the runtime makes a container with a GPU: hooks, driver root, cgroups, isolation."""
