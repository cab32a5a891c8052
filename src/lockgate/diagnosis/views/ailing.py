"""The nodes whose GPU stack is asked about and is not well.

Of a node that is the node itself, of an operand the nodes of its pods, of one of those pods its node. What a user's pod
stands on is asked as a node of its own (`diagnosis.beneath`).
"""

from collections.abc import Iterable
from itertools import islice
from typing import Final

import msgspec

from lockgate.diagnosis.seen import listed
from lockgate.diagnosis.stage import statuses
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.stack import NodeStack
from lockgate.diagnosis.views.stacks import Stacks
from lockgate.diagnosis.ways import read_log
from lockgate.model.facts import Logs, Missing
from lockgate.model.objects import DaemonSet, Node, Pod
from lockgate.model.pod_state import has_run

# An operand's nodes are usually sick in the same way; this many of them are looked at.
_MOST: Final = 20


class Ailing(msgspec.Struct, frozen=True):
    """The nodes; `unread` says why the logs of their pods are not known, where they are not."""

    nodes: tuple[NodeStack, ...]
    unread: Missing | None = None


# The very same for all that are well, so that rules judge it once (`diagnosis.panel`).
_NONE: Final = Ailing(())


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
    sick = tuple(islice((each for each in found if each.is_ailing), _MOST))
    return Ailing(sick, _unread(sick, logs)) if sick else _NONE


def _unread(nodes: tuple[NodeStack, ...], logs: Logs | Missing) -> Missing | None:
    if not any(_may_have_run(each.pod) for on in nodes for each in on.sick):
        return None
    if isinstance(logs, Missing):
        return logs
    # A collector reads only so many logs, and a person copies only some.
    unread = [pod for on in nodes for pod in on.unread] if logs else []
    if not unread:
        return None
    those = (
        f"the log of pod {unread[0].name} was"
        if len(unread) == 1
        else f"the logs of pods {listed(p.name for p in unread)} were"
    )
    return Missing(f"{those} not read", read_log(unread[0]))


def _may_have_run(pod: Pod) -> bool:
    """Whether a container of it may have a log: of one that is still to be made there is none."""
    return pod.status.phase != "Pending" or any(map(has_run, statuses(pod)))
