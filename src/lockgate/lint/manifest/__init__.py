"""Lint rules for Kubernetes manifests and live workloads."""
