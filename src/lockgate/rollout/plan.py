"""The next steps of a rollout, and no more than the budget allows.

A node is changed only when every node that was changed before is verified, but for those still within the budget. The
first failure stops it. The order is always the same, so two operators that overlap for a moment choose the same node:
first those whose toolkit an older revision left unfinished (they can only win), then the healthy ones by name, last
those that fail for reasons of their own. Those may go on failing with the same, and hold up nobody.
"""

import datetime as dt
from collections.abc import Iterable, Sequence

from lockgate.rollout.standing import Standing, asked, standing
from lockgate.rollout.values import NodeView, Restart, Revalidate, Step, Verdict


def next_steps(observed: Sequence[NodeView], budget: int, now: dt.datetime) -> tuple[Step, ...]:
    """What to do now. `budget`: nodes that may be in change at once, at least 1. Empty: wait, or all is done."""
    stands = {node.name: standing(node, now) for node in observed}
    again = [step for node in observed if (step := _revalidation(node))]
    if any(node.place != "outdated" and stands[node.name].state == "failed" for node in observed):
        return tuple(again)
    taken = sum(node.place != "outdated" and stands[node.name].state == "busy" for node in observed)
    return (*again, *_restarts(candidates(observed, now), stands, budget - taken))


def candidates(observed: Iterable[NodeView], now: dt.datetime) -> list[NodeView]:
    """The nodes that are still to be changed, in their order. One that is not Ready keeps its turn until it is."""
    stands = {node.name: (node, standing(node, now)) for node in observed if node.place == "outdated"}
    return [node for node, stand in sorted(stands.values(), key=_turn) if node.reachable]


def _turn(pair: tuple[NodeView, Standing]) -> tuple[int, str]:
    """A node that an older revision is still busy with comes first, and so takes its slot whatever happens."""
    node, stand = pair
    if stand.state == "failed":
        return (1 if stand.verdict and stand.verdict.stage == "toolkit" else 3), node.name
    return (0 if stand.state == "busy" else 2), node.name


def _restarts(waiting: Sequence[NodeView], stands: dict[str, Standing], slots: int) -> Iterable[Step]:
    for node in waiting[: max(slots, 0)]:
        if node.pod:
            yield Restart(node=node.name, pod=node.pod, excuse=_excuse(stands[node.name]))


def _excuse(stand: Standing) -> Verdict | None:
    """A failure that the toolkit has no part in, and so is none of its new revision either."""
    verdict = stand.verdict
    return verdict if verdict and stand.state == "failed" and verdict.stage != "toolkit" else None


def _revalidation(node: NodeView) -> Step | None:
    """The validator runs again once the new toolkit has done its part and there is something to hand out."""
    if node.place != "updated" or not node.stale or node.validator is None:
        return None
    before = [verdict for verdict in asked(node) if verdict.stage != "validation"]
    is_asked = any(verdict.stage == "validation" for verdict in asked(node))
    if not is_asked or any(verdict.outcome != "passed" for verdict in before):
        return None
    return Revalidate(node=node.name, pod=node.validator)
