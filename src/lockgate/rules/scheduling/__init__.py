"""Gate 1: why no node takes the pod."""
