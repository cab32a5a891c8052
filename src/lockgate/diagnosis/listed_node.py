"""A node that stands in a list that is cut: what it says of itself holds, whatever other nodes there are."""

import msgspec

from lockgate.diagnosis.target import Target
from lockgate.model.facts import LeftOut, Missing, Snapshot


def with_listed(snapshot: Snapshot, target: Target) -> Snapshot:
    """The facts to answer from: where a node is asked about that the part holds, that part, and that more follows."""
    cut = snapshot.nodes
    if target.kind != "Node" or not isinstance(cut, Missing):
        return snapshot
    if all(node.name != target.name for node in snapshot.some_nodes):
        return snapshot
    rest = LeftOut("nodes", cut.reason, cut.how)
    return msgspec.structs.replace(snapshot, nodes=snapshot.some_nodes, left_out=(*snapshot.left_out, rest))
