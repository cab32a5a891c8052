"""What lies beneath the subjects of a target: the nodes that they stand on, and the operands there.

A pod that waits for a device is told why its node has none: the rules are asked about the node, about the operands'
pods on it that are not well, and about the operator. Of what they say only that is kept which explains something that
was found about the target itself (`order.explaining`), so that a sick exporter does not stand beside a full node.
"""

from collections.abc import Iterable, Sequence

from lockgate.diagnosis.operand_names import validation
from lockgate.diagnosis.order import Said
from lockgate.diagnosis.scope import Scope, nodes_as_subjects, operator_as_subjects
from lockgate.diagnosis.seen import MOST_NODES
from lockgate.diagnosis.sick import sick
from lockgate.diagnosis.subject import Common, Subject
from lockgate.diagnosis.target import CLUSTER
from lockgate.diagnosis.views.operands import Operands
from lockgate.model.facts import Missing


def beneath(common: Common, found: Scope, said: Sequence[Said]) -> tuple[Subject, ...]:
    """The subjects beneath those of a target that something was found about; the cluster has all of them itself."""
    if not said or found.target.kind == CLUSTER or isinstance(common.snapshot.nodes, Missing):
        return ()
    wanted = sorted({name for s in said for name in s.ground.nodes or ()})[:MOST_NODES]
    nodes = [n for n in common.snapshot.nodes if n.name in wanted]
    known: Operands = common.get("operands")
    there = sick(p.pod for name in wanted for p in known.on(name) if not validation(p.pod.metadata.labels))
    every = (*operator_as_subjects(common), *nodes_as_subjects(common, nodes), *there)
    return tuple(_new(every, found.about))


def _new(subjects: Iterable[Subject], asked: Sequence[Subject]) -> Iterable[Subject]:
    """Those that are not asked about already."""
    known = {_called(s) for s in asked}
    return (s for s in subjects if _called(s) not in known)


def _called(subject: Subject) -> tuple[str, ...]:
    it = subject.operand or subject.node or subject.pod or subject.workload
    return (subject.stage.value, it.namespace, it.name) if it else (subject.stage.value,)
