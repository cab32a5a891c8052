"""The one obstacle that the scheduler's words tell by themselves, where nobody has read the nodes.

`Insufficient nvidia.com/gpu` is said of a full node and of a dead plugin alike, so the nodes' numbers have to decide. A
taint, a selector, a cordon, a port or a lack of CPU is what it says it is. Where every node was refused for one such
thing, that is the cause; nodes that are left to the control plane alone do not count, since no GPU pod is meant for
them. kube-scheduler names a node once, by the first filter that refused it, and there all resources that lack.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from lockgate.diagnosis.gate_row import Obstacle
from lockgate.diagnosis.seen import scheduler_text
from lockgate.model import names
from lockgate.model.facts import Events, Missing, Nodes
from lockgate.model.finding import Evidence
from lockgate.model.objects import Pod
from lockgate.scheduling.causes import Cause, Reason
from lockgate.scheduling.messages import FailedScheduling
from lockgate.scheduling.taints import UNSCHEDULABLE_KEY

_CONTROL_PLANE: Final = tuple(
    f"node-role.kubernetes.io/{role}" for role in ("control-plane", "master", "controlplane", "etcd")
)
_TELLING: Final[Mapping[Cause, Obstacle]] = {
    Cause.TAINT: Obstacle.TAINT,
    Cause.SELECTOR: Obstacle.SELECTOR,
    Cause.CORDONED: Obstacle.CORDON,
    Cause.INSUFFICIENT: Obstacle.OTHER,
    Cause.TOO_MANY_PODS: Obstacle.OTHER,
    Cause.PORTS: Obstacle.PLACEMENT,
    Cause.POD_AFFINITY: Obstacle.PLACEMENT,
    Cause.POD_ANTI_AFFINITY: Obstacle.PLACEMENT,
    Cause.TOPOLOGY_SPREAD: Obstacle.PLACEMENT,
}


class ToldRefusal(msgspec.Struct, frozen=True, kw_only=True):
    """The obstacle, the reasons that tell it, and where they were read; without an obstacle the words leave it open."""

    obstacle: Obstacle | None = None
    reasons: tuple[Reason, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def reach(self) -> int:
        """How many nodes are refused so, at least."""
        return max((r.count for r in self.reasons), default=0)


def told_refusal(pod: Pod, nodes: Nodes | Missing, pod_events: Events | Missing) -> ToldRefusal:
    """What the words tell where the nodes are not known; nothing where they are, since then their numbers decide."""
    word, text = scheduler_text(pod, () if isinstance(pod_events, Missing) else pod_events)
    if not isinstance(nodes, Missing) or word is None or text is None or not _is_whole(text):
        return ToldRefusal()
    reasons = tuple(r for r in text.reasons if not _is_of_control_plane(r))
    obstacles = {_obstacle(r) for r in reasons}
    if len(obstacles) != 1:
        return ToldRefusal()
    return ToldRefusal(obstacle=obstacles.pop(), reasons=reasons, evidence=(word,))


def _is_whole(text: FailedScheduling) -> bool:
    """Whether every node is spoken of."""
    return not text.truncated and not text.prefilter and sum(r.count for r in text.reasons) >= text.nodes


def _is_of_control_plane(reason: Reason) -> bool:
    return reason.taint is not None and reason.taint[0] in _CONTROL_PLANE


def _obstacle(reason: Reason) -> Obstacle | None:
    if names.is_gpu_resource(reason.resource):
        return None
    if reason.taint is not None and reason.taint[0] == UNSCHEDULABLE_KEY:
        return Obstacle.CORDON
    return _TELLING.get(reason.cause)
