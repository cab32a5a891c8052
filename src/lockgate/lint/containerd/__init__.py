"""Lint rules for containerd's configuration."""
