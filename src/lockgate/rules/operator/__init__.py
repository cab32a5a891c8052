"""What the operator itself says of its ClusterPolicy."""
