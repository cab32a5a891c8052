"""Why a DaemonSet reaches no node: the node that it misses by least, with the labels and taints that keep it off."""

from collections.abc import Iterable

import msgspec

from lockgate.diagnosis.kept_off import not_tolerated
from lockgate.diagnosis.seen import label_missed
from lockgate.model import names
from lockgate.model.finding import Evidence
from lockgate.model.objects import DaemonSet, Node
from lockgate.scheduling.daemonsets import Target, target
from lockgate.scheduling.taints import taint_text


class OutOfReach(msgspec.Struct, frozen=True):
    """The nearest node, and whether it is one for GPUs by its taint while the label of its cloud lacks."""

    target: Target
    lacks_cloud_label: bool = False


def nearest(daemon_set: DaemonSet, nodes: Iterable[Node]) -> OutOfReach | None:
    """The node that a DaemonSet misses by least, those that are kept for GPUs first; None where it reaches one."""
    judged = [(not is_for_gpus(node), target(daemon_set, node)) for node in nodes]
    if not judged or any(each.runs for _, each in judged):
        return None
    for_others, best = min(judged, key=lambda j: (j[0], len(j[1].misses) + len(j[1].taints), j[1].node))
    by_cloud = any(miss.key in names.CLOUD_ACCELERATORS for miss in best.misses)
    return OutOfReach(best, by_cloud and not for_others)


def why(nearest: Target, *, alone: bool = False) -> str:
    """What keeps a DaemonSet off its nearest node, or off the only one that is asked about, in words."""
    it = nearest.node if alone else f"{nearest.node}, the nearest,"
    if nearest.misses:
        miss = nearest.misses[0]
        seen = "has no such label" if miss.seen is None else f"has {miss.key}={miss.seen}"
        return f"it selects {miss.wanted}, and {it} {seen}"
    return f"{not_tolerated(nearest.taints)} of {it.rstrip(',')}"


def seen(nearest: Target) -> list[Evidence]:
    """The labels that lack on a node, and the taints that are not tolerated."""
    place = f"node/{nearest.node}"
    labels = [label_missed(nearest.node, miss) for miss in nearest.misses]
    taints = [
        Evidence(object=place, field="spec.taints", value=taint_text(t), note="not tolerated") for t in nearest.taints
    ]
    return labels + taints


def is_for_gpus(node: Node) -> bool:
    """Whether a taint keeps a node for pods that ask for GPUs, as GKE sets it on its GPU pools."""
    return any(taint.key == names.GPU for taint in node.spec.taints)
