"""Which container runtime each node's kubelet uses, as `status.nodeInfo.containerRuntimeVersion` names it."""

from collections.abc import Mapping

from lockgate.model.facts import Nodes


def runtimes(nodes: Nodes) -> Mapping[str, str]:
    """`containerd`, `cri-o` or `docker` by node; nodes that do not say it are left out."""
    return {node.name: runtime for node in nodes if (runtime := node.status.node_info.runtime)}
