"""Lockgate: a GPU operator for Kubernetes that explains itself."""

__version__ = "0.1.0"
