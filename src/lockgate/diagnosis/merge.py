"""One finding a cause: the same fault of many nodes, operands or pods is said once."""

from collections.abc import Sequence
from itertools import islice

import msgspec

from lockgate.diagnosis.likewise import is_named, on_all
from lockgate.diagnosis.seen import MOST_NODES, more_nodes
from lockgate.model.finding import Finding

# Objects of which many may have the same fault at once.
_MANY = ("pod", "node", "daemonset")


def cause(finding: Finding) -> tuple[str, ...]:
    """What makes two findings the same; nodes with the same fault are told together, whatever their names.

    What a rule calls by another title is another fault: on one node the driver crashes, on another one the toolkit.
    """
    kind = finding.about.partition("/")[0].replace("nodes", "node")
    return (finding.id, kind, finding.title, *finding.codes) if kind in _MANY else (finding.id, finding.about)


def joined(same: Sequence[Finding]) -> Finding:
    """All as one, worded as the worst of them, which affects what any of them affects."""
    first = max(same, key=lambda f: f.severity.rank)
    every = {id(f.affects): f.affects for f in same}.values()  # those of one pod strike the same
    affects = dict.fromkeys(name for names in every for name in names)
    shown = _shown(first, same)
    left = len({f.about for f in same if _is_of_node(f)}) - len({f.about for f in shown if _is_of_node(f)})
    evidence = dict.fromkeys((*(e for f in shown for e in f.evidence), *more_nodes(left)))
    return msgspec.structs.replace(on_all(first, same), affects=tuple(affects), evidence=tuple(evidence))


def _shown(first: Finding, same: Sequence[Finding]) -> tuple[Finding, ...]:
    """Those whose evidence is shown: the first, and of others with the same fault as many as can be read."""
    others = (f for f in same if f.about != first.about) if is_named(first) else ()
    return (first, *islice(others, MOST_NODES - 1))


def _is_of_node(finding: Finding) -> bool:
    return finding.about.startswith("node/")
