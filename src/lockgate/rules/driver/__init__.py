"""Drivers that are not built, do not load, or cannot be exchanged."""
