"""An operand does not run on GPU nodes: a taint, a missing label or a pause keeps its DaemonSet away.

Each operand goes where its own label `nvidia.com/gpu.deploy.*` is `true` and every taint is tolerated. The operator
sets these labels; a person may set one to `false`, and two operands pause the others with it.

Why it matters: a DaemonSet that wants no node has DESIRED 0, which every tool calls ready, and no event is written.
How to tell: the node's `nvidia.com/gpu.deploy.*` labels and taints, set beside the DaemonSet's selector and
tolerations.
Fix: add the toleration that is shown to the ClusterPolicy, or set the label. A label that stays at `paused-for-...`
was left behind by the MIG manager or the driver manager, whose log says why.
"""

from collections.abc import Iterable

import msgspec

from lockgate.diagnosis.kept_off import KeptOff, kept_off, let_tolerate, not_tolerated
from lockgate.diagnosis.operand_names import short_name
from lockgate.diagnosis.rule import Failed, Passed, on_each, rule
from lockgate.diagnosis.seen import MOST_NODES, listed, more_nodes
from lockgate.diagnosis.stage import Stage, is_ready
from lockgate.diagnosis.views.operands import Operands
from lockgate.model import names
from lockgate.model.facts import Missing, Nodes
from lockgate.model.finding import Evidence, Remedy, Severity
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import DaemonSet, Node
from lockgate.scheduling.daemonsets import Target, target
from lockgate.scheduling.selectors import Miss

# Wanted on every GPU node that runs containers; others are for some nodes only, and absence means nothing.
_EVERYWHERE = ("container-toolkit", "device-plugin", "gpu-feature-discovery", "operator-validator")


class _Out(msgspec.Struct, frozen=True):
    """One node that lacks the operand, the catalogue's code for why, and the reason in words."""

    node: str
    code: str
    why: str
    meant: bool
    remedy: Remedy


@rule(
    codes=("G04", "G05", "G06", "G07"),
    severity=Severity.ERROR,
    stages=(Stage.OPERAND,),
    asks_gpu=None,
    mutes=("operator/policy-not-ready",),
)
def left_out(operand: DaemonSet, nodes: Nodes, operands: Operands | Missing) -> Failed | Passed | None:
    gpu_nodes = [n for n in nodes if is_gpu_node(n)]
    out = [reason for n in gpu_nodes if (reason := _why(operand, target(operand, n), n))]
    name = short_name(operand) or operand.name
    if not out:
        return Passed(f"{name} is kept from no GPU node that should have it") if gpu_nodes else None
    run = _running(operand, operands)
    return on_each([_failed(operand, those, len(gpu_nodes), run) for those in _alike(out)])


def _alike(out: Iterable[_Out]) -> list[list[_Out]]:
    """The nodes by the kind of reason; what a person chose comes last."""
    found: dict[tuple[bool, str], list[_Out]] = {}
    for each in sorted(out, key=lambda o: o.meant):
        found.setdefault((each.meant, each.code), []).append(each)
    return list(found.values())


def _failed(operand: DaemonSet, out: list[_Out], known: int, run: set[str]) -> Failed:
    first, name = out[0], short_name(operand) or operand.name
    desired = operand.status.desired_number_scheduled
    stays = "; its pods there run on, and would not come back" if all(o.node in run for o in out) else ""
    return Failed(
        about=f"daemonset/{operand.namespace}/{operand.name}",
        codes=(first.code,),
        severity=_severity(first, desired, bool(stays)),
        title="Operands are left out of nodes by a person's label" if first.meant else "",
        summary=f"{name}: DESIRED {desired}, kept from {len(out)} of {known} GPU nodes "
        f"({listed(o.node for o in out)}): {first.why}{stays}.",
        reach=len(out),
        nodes=tuple(o.node for o in out),
        evidence=(
            Evidence(
                object=f"daemonset/{operand.namespace}/{operand.name}",
                field="status.desiredNumberScheduled",
                value=str(desired),
            ),
            *(Evidence(object=f"node/{o.node}", field="kept out", note=o.why) for o in out[:MOST_NODES]),
            *more_nodes(len(out) - MOST_NODES),
        ),
        remedy=() if first.meant else (first.remedy,),
    )


def _severity(first: _Out, desired: int, stays: bool) -> Severity | None:
    """What a person chose is a remark, but for an operand that then runs nowhere: that is easily forgotten."""
    if first.meant:
        return Severity.INFO if desired else Severity.WARNING
    return Severity.WARNING if stays else None


def _running(operand: DaemonSet, known: Operands | Missing) -> set[str]:
    pods = () if isinstance(known, Missing) else known.of(operand)
    return {p.spec.node_name for p in pods if is_ready(p)}


def _why(operand: DaemonSet, judged: Target, node: Node) -> _Out | None:
    label = next((m for m in judged.misses if m.key.startswith(names.DEPLOY_PREFIX)), None)
    if judged.misses and label is None:
        return None  # its own selector: a DaemonSet a kernel, or an architecture
    if label is None:
        taints = judged.taints
        return _Out(node.name, "G04", not_tolerated(taints), False, let_tolerate(taints, operand)) if taints else None
    kept = kept_off(label, node)
    if kept is None:
        return None
    if label.seen or kept.is_meant or (short_name(operand) in _EVERYWHERE and _is_for_containers(node)):
        return _Out(node.name, kept.code, _told(label, kept), kept.is_meant, kept.remedy)
    return None


def _told(label: Miss, kept: KeptOff) -> str:
    by = ", set by a person" if kept.is_meant and label.seen else ""
    return (
        f"it selects {label.wanted}, {kept.why}" if kept.key == label.key and label.seen is None else f"{kept.why}{by}"
    )


def _is_for_containers(node: Node) -> bool:
    """A node that serves virtual machines, or that no discovery has found, is not missing its label."""
    labels = node.metadata.labels
    asked = labels.get(names.WORKLOAD_CONFIG, "container")
    return asked == "container" and any(labels.get(label) == "true" for label in names.PCI_PRESENT)
