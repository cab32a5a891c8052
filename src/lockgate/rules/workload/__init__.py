"""Workloads that lack pods."""
