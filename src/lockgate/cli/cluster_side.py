"""What a live cluster says, as the facts that manifests are judged against."""

from lockgate.collect.live_workload import Against
from lockgate.kit.quantity import whole
from lockgate.lint.cluster_facts import ClusterFacts, GpuNode
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.node_state import NodeStanding
from lockgate.model.objects import Node

_STRATEGY = names.GPU_PREFIX + ".sharing-strategy"
# Both spellings of feature discovery, the newer one first.
_CUDA = (
    ("nvidia.com/cuda.runtime-version.major", "nvidia.com/cuda.runtime-version.minor"),
    ("nvidia.com/cuda.runtime.major", "nvidia.com/cuda.runtime.minor"),
)


def cluster_facts(found: Against) -> ClusterFacts:
    """The GPU nodes and classes; what may not be read is not known."""
    nodes = () if isinstance(found.nodes, Missing) else found.nodes
    states = {} if isinstance(found.standings, Missing) else {s.name: s for s in found.standings}
    classes = found.runtime_classes
    return ClusterFacts(
        nodes=tuple(_gpu_node(node, resources, states.get(node.name)) for node in nodes if (resources := _gpus(node))),
        runtime_classes=None if isinstance(classes, Missing) else frozenset(each.name for each in classes),
    )


def _gpus(node: Node) -> dict[str, int]:
    """The GPU resources that it advertises; devices that are unhealthy at the moment count."""
    return {n: whole(amount) for n, amount in node.status.capacity.items() if names.is_gpu_resource(n)}


def _gpu_node(node: Node, resources: dict[str, int], state: NodeStanding | None) -> GpuNode:
    labels = node.metadata.labels
    shared = labels.get(_STRATEGY, "none") not in ("", "none")
    return GpuNode(
        name=node.name,
        capacity=resources,
        labels=labels,
        taints=node.spec.taints,
        cuda=_cuda(labels),
        shared=frozenset(n for n in resources if shared and names.is_whole_gpu(n)),
        injects=_injects(state),
    )


def _cuda(labels: dict[str, str]) -> tuple[int, int] | None:
    for major, minor in _CUDA:
        if labels.get(major, "").isdecimal() and labels.get(minor, "").isdecimal():
            return int(labels[major]), int(labels[minor])
    return None


def _injects(state: NodeStanding | None) -> bool | None:
    """Whether a pod without a RuntimeClass gets its devices; None where the node's agents have not said enough."""
    runtime, devices = (state.status.runtime, state.status.devices) if state else (None, None)
    if runtime is None or not runtime.default_handler:
        return None
    if runtime.default_handler in names.HANDLERS:
        return True
    if runtime.default_handler != "runc" or devices is None or not devices.strategies or runtime.cdi_enabled is None:
        return None
    return runtime.cdi_enabled and bool(devices.cdi_kind)
