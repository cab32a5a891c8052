"""Which container runtime each node's kubelet uses, as `status.nodeInfo.containerRuntimeVersion` names it."""

from collections.abc import Mapping

from lockgate.model.facts import Nodes


def runtimes(nodes: Nodes) -> Mapping[str, str]:
    """`containerd`, `cri-o` or `docker` by node; nodes that do not say it are left out."""
    told = ((node.name, node.status.node_info.container_runtime_version) for node in nodes)
    return {name: version.partition("://")[0] for name, version in told if "://" in version}
