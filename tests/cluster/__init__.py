"""A real Kubernetes on one machine for tests: `with Cluster(nodes=[Node("gpu-a", gpus="2xA100-40GB")]) as cluster:`."""

from tests.cluster.cluster import Cluster, ClusterError
from tests.cluster.node import RunningNode
from tests.cluster.spec import Node

__all__ = ["Cluster", "ClusterError", "Node", "RunningNode"]
