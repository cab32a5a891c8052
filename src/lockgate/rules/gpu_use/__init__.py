"""Pods that run and cannot use their GPU: what programs say, and what stands behind it (section J)."""
