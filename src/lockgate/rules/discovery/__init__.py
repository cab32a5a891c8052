"""Nodes that nobody knows to have GPUs."""
