"""The node's driver is one of those that hang when whole GPUs and MIG devices stand side by side.

With drivers 570.124.06, 570.133.20, 570.148.08 and 570.158.01 calls into NVML stop answering on such nodes, and the
device plugin with them: pods stay Pending or ContainerCreating while everything looks ready.

Why it matters: no error is written anywhere; restarting pods and plugins helps for minutes at best.
How to tell: `nvidia-smi` on the node does not come back; the driver's version is one of the four, and both kinds are
offered.
Fix: install driver 570.172.08 or later, or go back to 570.86.15; or give all GPUs of the node one MIG mode.
"""

from lockgate.diagnosis.rule import Failed, on_each, rule
from lockgate.diagnosis.seen import listed
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.published import Published
from lockgate.model import names
from lockgate.model.facts import Missing, Nodes
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod

# NVIDIA gpu-operator release notes, known issues (gpu-operator#1361).
_HANGING = ("570.124.06", "570.133.20", "570.148.08", "570.158.01")
_FULL = "nvidia.com/cuda.driver-version.full"
_PARTS = ("nvidia.com/cuda.driver.major", "nvidia.com/cuda.driver.minor", "nvidia.com/cuda.driver.rev")


@rule(codes=("C15",), severity=Severity.WARNING, stages=(Stage.SCHEDULING, Stage.CREATING, Stage.NODE))
def driver_hangs_with_mig(pod: Pod, node: Node | Missing, nodes: Nodes, published: Published) -> Failed | None:
    near = (node,) if isinstance(node, Node) else nodes
    asked = [n for n in near if pod.spec.node_name in ("", n.name) and _is_mixed(n)]
    found = [(n, e) for n in asked if (e := _driver(n, published)).value in _HANGING]
    return on_each([_failed(n, version) for n, version in found]) if found else None


def _failed(node: Node, version: Evidence) -> Failed:
    return Failed(
        about=f"node/{node.name}",
        summary=f"{node.name}: driver {version.value} hangs where whole GPUs and MIG devices stand side by side.",
        nodes=(node.name,),
        evidence=(version, _offers(node)),
        remedy=(
            Remedy("Install driver 570.172.08 or later, or go back to 570.86.15", "", Risk.HIGH),
            Remedy(
                f"See whether calls to the driver still answer on {node.name}",
                "timeout 10 nvidia-smi; echo $?",
                Risk.NONE,
            ),
        ),
    )


def _is_mixed(node: Node) -> bool:
    offered = [name for name, count in node.status.capacity.items() if count != "0"]
    return any(map(names.is_whole_gpu, offered)) and any(name.startswith(names.MIG_PREFIX) for name in offered)


def _driver(node: Node, states: Published) -> Evidence:
    """The driver's version as feature discovery labelled it, else as the node's validator published it."""
    labels = node.metadata.labels
    version = labels.get(_FULL) or ".".join(labels[part] for part in _PARTS if part in labels)
    if version:
        return Evidence(object=f"node/{node.name}", field=f"metadata.labels[{_FULL}]", value=version)
    state = states.get(node.name)
    told = state.status.driver.version if state and state.status.driver else ""
    return Evidence(object=f"gpunodestate/{node.name}", field="status.driver.version", value=told)


def _offers(node: Node) -> Evidence:
    offered = [f"{n}: {c}" for n, c in sorted(node.status.capacity.items()) if names.is_gpu_resource(n)]
    return Evidence(object=f"node/{node.name}", field="status.capacity", value=listed(offered))
