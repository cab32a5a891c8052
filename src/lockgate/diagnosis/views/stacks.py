"""The GPU stacks of all nodes, brought together from pods, events, logs, files and what the agents publish."""

from collections import defaultdict
from collections.abc import Mapping

from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.published import Published
from lockgate.diagnosis.views.stack import Known, NodeStack, Place
from lockgate.model.facts import Events, Log, Logs, Missing, NodeFolders, Nodes, Snapshot
from lockgate.model.objects import Event, Node


class Stacks:
    """The stacks of all nodes; one is looked at when it is first asked for."""

    def __init__(self, nodes: Mapping[str, Node], operands: Operands, known: Known) -> None:
        self._nodes, self._operands, self._known = nodes, operands, known
        self._made: dict[str, NodeStack] = {}

    def on(self, node: str) -> NodeStack:
        """The stack of a node."""
        if node not in self._made:
            self._made[node] = NodeStack(node, self._nodes.get(node), self._operands.on(node), self._known)
        return self._made[node]


def stacks(
    operands: Operands,
    nodes: Nodes | Missing,
    events: Events | Missing,
    logs: Logs | Missing,
    node_files: NodeFolders | Missing,
    published: Published,
    snapshot: Snapshot,
) -> Stacks:
    """Bring together what is known of the stack; what is not known says nothing."""
    own = {(each.pod.namespace, each.pod.name) for each in operands.pods}
    about: dict[Place, list[Event]] = defaultdict(list)
    for event in () if isinstance(events, Missing) else events:
        if event.about.kind == "Pod" and (event.about.namespace, event.about.name) in own:
            about[event.about.namespace, event.about.name].append(event)
    said: dict[Place, list[Log]] = defaultdict(list)
    for log in () if isinstance(logs, Missing) else logs:
        said[log.namespace, log.pod].append(log)
    known = Known(
        {place: tuple(found) for place, found in about.items()},
        {place: tuple(found) for place, found in said.items()},
        {} if isinstance(node_files, Missing) else {f.node: f for f in node_files},
        published,
        snapshot.taken_at,
    )
    return Stacks({} if isinstance(nodes, Missing) else {n.name: n for n in nodes}, operands, known)
