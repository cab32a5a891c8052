"""Where a finding stands: one explains another only where they meet.

Rules say which faults follow from which (`mutes`); whether this very one follows from that one is a question of place.
A broken driver on one node does not explain a plugin that is gone on another, and the image of somebody's pod explains
nothing about the operands. Operands explain each other only in the order in which they wait for each other.
"""

from collections.abc import Iterable, Mapping

import msgspec

from lockgate.diagnosis.subject import Subject
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.model.objects import Pod
from lockgate.model.told import UNSEEN_NODE

# Objects that many pods stand on: what is found there may explain what is found elsewhere.
_SHARED = ("node", "nodes", "daemonset", "clusterpolicy", "nvidiadriver", "cluster", "configmap", "runtimeclass")
# In which place an operand comes on the way to a device; nobody waits for those that are not named. The validator and
# the plugin wait for each other: one validates the toolkit first, and the plugin last.
_PLACE: Mapping[str, int] = {
    "driver": 1,
    "container-toolkit": 2,
    "operator-validator": 3,
    "cuda-validator": 3,
    "mps-control-daemon": 3,
    "mig-manager": 3,
    "device-plugin": 3,
}
_NOBODY_WAITS = max(_PLACE.values()) + 1


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """Where a finding was made: about which subject, on which nodes (None: anywhere), by which operand's pod.

    `own` holds where it is about the subject's own pod or workload, which nothing else stands on, and `told` where the
    finding itself says its nodes: they are all that it is about, and not only those that its subject may be put on.
    """

    subject: int
    nodes: frozenset[str] | None = None
    operand: str = ""
    own: bool = False
    told: bool = False

    @property
    def place(self) -> int:
        """Which operand's pod comes first on the way to a device; 0 for what is no operand's."""
        return _PLACE.get(self.operand, _NOBODY_WAITS) if self.operand else 0

    def explains(self, other: "Ground") -> bool:
        """Whether what is found here can be the cause of what is found there."""
        if not self._meets(other):
            return False
        return self.subject == other.subject or (not self.own and self._before(other))

    def is_covered(self, causes: Iterable["Ground"]) -> bool:
        """Whether causes that meet it stand on all of its nodes together: what they leave open has another cause."""
        if self.nodes is None or not self.told:
            return True
        known = [cause.nodes for cause in causes]
        return None in known or self.nodes <= frozenset().union(*(nodes for nodes in known if nodes is not None))

    def _meets(self, other: "Ground") -> bool:
        return self.nodes is None or other.nodes is None or not self.nodes.isdisjoint(other.nodes)

    def _before(self, other: "Ground") -> bool:
        if not self.operand:
            return True
        if self.place == _NOBODY_WAITS:
            return False
        later = other.place or _NOBODY_WAITS
        return self.place < later or (self.place == later and self.operand != other.operand)


def nodes_of(subject: Subject, gate: GateOne | None) -> frozenset[str] | None:
    """The nodes that a subject stands on, or for a pod without a node those that it is nearest to; None: anywhere."""
    if subject.node is not None:
        return frozenset((subject.node.name,))
    if subject.pod is not None and subject.pod.spec.node_name:
        return frozenset((_node_of(subject.pod),))
    nearest = frozenset(row.node for row in gate.nearest) if gate is not None and subject.pod is not None else None
    return nearest or None


def _node_of(pod: Pod) -> str:
    """Two pods whose nodes are not told may be on different ones."""
    node = pod.spec.node_name
    return f"{node}: {pod.namespace}/{pod.name}" if node == UNSEEN_NODE else node


def is_shared(about: str) -> bool:
    """Whether a finding is about something that many pods stand on."""
    return about.partition("/")[0] in _SHARED
