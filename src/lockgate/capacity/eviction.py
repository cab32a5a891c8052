"""Whether a pod would come back elsewhere when it is evicted, and may be evicted at all; each reason with its words."""

import enum

import msgspec

from lockgate.model.objects import Pod
from lockgate.scheduling.budgets import Budgets, refusal

_MARKS = {
    "karpenter.sh/do-not-disrupt": "true",
    "karpenter.sh/do-not-evict": "true",  # its name until Karpenter 0.32
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
}
_MIRROR = "kubernetes.io/config.mirror"


class Why(enum.StrEnum):
    """Why a pod is not moved, in words for a person."""

    OF_ITS_NODE = "of a DaemonSet, or static: it belongs to its node"
    BARE = "without a controller: nobody would make it again"
    MARKED = "marked as not to be evicted"
    GUARDED = "guarded by a PodDisruptionBudget"
    LEAVING = "on its way out already"
    TIED = "with host ports, spread, pod affinity or claims: its place depends on more than room"


class Hold(msgspec.Struct, frozen=True):
    """What keeps a pod where it is; `text` names the annotation or the budget."""

    why: Why
    text: str


def hold_of(pod: Pod, budgets: Budgets | None) -> Hold | None:
    """What keeps a pod on its node, the firmest reason first; None when it may be moved. No budgets: none are known."""
    owner = next((o for o in pod.metadata.owner_references if o.controller), None)
    if _MIRROR in pod.metadata.annotations or (owner and owner.kind in ("DaemonSet", "Node")):
        return Hold(Why.OF_ITS_NODE, Why.OF_ITS_NODE)
    if pod.metadata.deletion_timestamp is not None:
        return Hold(Why.LEAVING, Why.LEAVING)
    annotations = pod.metadata.annotations.items()
    if mark := next((f"{key}={value}" for key, value in annotations if _MARKS.get(key) == value), ""):
        return Hold(Why.MARKED, mark)
    if refused := refusal(pod, budgets or {}):
        return Hold(Why.GUARDED, refused)
    return None if owner else Hold(Why.BARE, Why.BARE)
