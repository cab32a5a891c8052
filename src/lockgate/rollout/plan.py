"""The next steps of a rollout, and no more than the budget allows.

A node is changed only when every node that was changed before is verified, but for those still within the budget. The
first failure stops it. The order is always the same, so two operators that overlap for a moment choose the same node:
first those whose toolkit an older revision left unfinished (they can only win), then the healthy ones by name. A node
that fails for reasons of its own (no GPUs) or is not Ready keeps its turn until it is mended, and holds up nobody.
"""

import datetime as dt
from collections.abc import Iterable, Sequence

from lockgate.rollout.standing import Standing, standing
from lockgate.rollout.values import NodeView, Restart, Revalidate, Step


def next_steps(observed: Sequence[NodeView], budget: int, now: dt.datetime) -> tuple[Step, ...]:
    """What to do now. `budget`: nodes that may be in change at once, at least 1. Empty: wait, or all is done."""
    stands = {node.name: standing(node, now) for node in observed}
    again = [step for node in observed if (step := _revalidation(node))]
    if any(node.place != "outdated" and stands[node.name].state == "failed" for node in observed):
        return tuple(again)
    taken = sum(node.place != "outdated" and stands[node.name].state == "busy" for node in observed)
    return (*again, *_restarts(candidates(observed, now), budget - taken))


def candidates(observed: Iterable[NodeView], now: dt.datetime) -> list[NodeView]:
    """The nodes that are to be changed next, in their order; those that must wait for something else are left out."""
    stands = {node.name: (node, standing(node, now)) for node in observed if node.place == "outdated"}
    return [node for node, stand in sorted(stands.values(), key=_turn) if node.reachable and not is_held(stand)]


def is_held(stand: Standing) -> bool:
    """Whether a node of an older revision fails for a reason that the toolkit has no part in.

    Its driver may be broken: the toolkit that leaves takes its handlers away, and the next one could not start.
    """
    return stand.state == "failed" and stand.verdict is not None and stand.verdict.stage != "toolkit"


def _turn(pair: tuple[NodeView, Standing]) -> tuple[int, str]:
    """A node that an older revision is still busy with comes first, and so takes its slot whatever happens."""
    node, stand = pair
    return {"busy": 0, "failed": 1, "verified": 2}[stand.state], node.name


def _restarts(waiting: Sequence[NodeView], slots: int) -> Iterable[Step]:
    for node in waiting[: max(slots, 0)]:
        if node.pod:
            yield Restart(node=node.name, pod=node.pod)


def _revalidation(node: NodeView) -> Step | None:
    """The validator runs again once the new toolkit has done its part and there is something to hand out."""
    if node.place != "updated" or not node.stale or node.validator is None:
        return None
    if any(verdict.outcome != "passed" for verdict in node.verdicts if verdict.stage != "validation"):
        return None
    return Revalidate(node=node.name, pod=node.validator)
