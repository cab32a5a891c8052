"""Nodes that an autoscaler does not add, or has added and waits for."""
