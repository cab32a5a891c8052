"""Which nodes a DaemonSet targets, and why it leaves the others out: the controller says neither when DESIRED is 0.

Source: pkg/controller/daemon/daemon_controller.go (NodeShouldRunDaemonPod). Room on the node is not asked: a pod is
made for every targeted node and then waits for the scheduler.
"""

from collections.abc import Iterable

import msgspec

from lockgate.model.objects import DaemonSet, Node, Taint, Toleration
from lockgate.scheduling.selectors import Miss, node_misses
from lockgate.scheduling.taints import daemonset_tolerations, untolerated_taints


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What a DaemonSet makes of one node; it runs there when nothing is listed."""

    node: str
    misses: tuple[Miss, ...] = ()
    taints: tuple[Taint, ...] = ()
    pinned_to: str = ""

    @property
    def runs(self) -> bool:
        """Whether the controller makes a pod for this node."""
        return not (self.misses or self.taints or self.pinned_to)


def tolerations(daemonset: DaemonSet) -> tuple[Toleration, ...]:
    """The tolerations that its pods have: the template's own and those that the controller adds."""
    spec = daemonset.spec.template.spec
    return (*spec.tolerations, *daemonset_tolerations(spec.host_network))


def target(daemonset: DaemonSet, node: Node) -> Target:
    """What the controller decides for one node, with every label and taint that stands in the way."""
    spec = daemonset.spec.template.spec
    elsewhere = spec.node_name if spec.node_name and spec.node_name != node.name else ""
    return Target(
        node=node.name,
        misses=node_misses(spec, node),
        taints=untolerated_taints(node.spec.taints, tolerations(daemonset)),
        pinned_to=elsewhere,
    )


def targets(daemonset: DaemonSet, nodes: Iterable[Node]) -> tuple[Target, ...]:
    """The decision for every node; the number that `runs` is what `status.desiredNumberScheduled` should say."""
    return tuple(target(daemonset, node) for node in nodes)


def desired(daemonset: DaemonSet, nodes: Iterable[Node]) -> int:
    """How many pods the controller wants: compare with `status.desiredNumberScheduled`."""
    return sum(each.runs for each in targets(daemonset, nodes))
