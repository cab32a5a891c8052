"""What a ClusterPolicy becomes: node labels, RuntimeClasses, a DaemonSet an operand. Pure; `controllers` applies it.

An operand is a folder: plain valid YAML manifests, `desired()` that fits them to a policy, and its place in the order.
"""
