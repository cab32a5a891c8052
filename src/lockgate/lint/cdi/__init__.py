"""Lint rules for CDI specifications."""
