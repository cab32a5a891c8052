"""The nodes whose GPU stack is asked about and is not well.

Of a node that is the node itself, of an operand the nodes of its pods, of one of those pods its node. What a user's pod
stands on is asked as a node of its own (`diagnosis.beneath`).
"""

from collections.abc import Iterable

import msgspec

from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.stack import NodeStack, Stacks
from lockgate.model.facts import Logs, Missing
from lockgate.model.objects import DaemonSet, Node, Pod


class Ailing(msgspec.Struct, frozen=True):
    """The nodes; `unread` says why the logs of their pods are not known, where they are not."""

    nodes: tuple[NodeStack, ...]
    unread: Missing | None = None


def ailing(
    node: Node | Missing,
    operand: DaemonSet | Missing,
    pod: Pod | Missing,
    operands: Operands,
    stacks: Stacks,
    logs: Logs | Missing,
) -> Ailing:
    """The stacks that are not well, of those that matter to what is asked about."""
    if isinstance(node, Node):
        named: Iterable[str] = (node.name,)
    elif isinstance(operand, DaemonSet):
        named = [p.spec.node_name for p in operands.of(operand)]
    else:
        named = (pod.spec.node_name,) if isinstance(pod, Pod) and operands.name_of(pod) else ()
    found = (stacks.on(name) for name in dict.fromkeys(named) if name)
    return Ailing(tuple(each for each in found if each.is_ailing), logs if isinstance(logs, Missing) else None)
