"""What a rollout says of itself: a reason and a message for the operand's condition, and counts for a metric."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from lockgate.kit.counted import agreeing
from lockgate.model import names
from lockgate.rollout.plan import candidates, is_held
from lockgate.rollout.standing import Standing, standing
from lockgate.rollout.values import NodeView

Reason = Literal["", "RollingOut", "RolloutStopped", "RolloutHeld", "RolloutOnDelete", "ToolkitFailed"]
STATES: Final = ("verified", "changing", "failed", "outdated", "held")
NAMED: Final = 3
LEAVE_OUT: Final = f"{names.DEPLOY_PREFIX}container-toolkit=false"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """`reason` is empty when there is nothing to say; then `done` tells whether every node is verified.

    `counts`: state (of STATES) -> nodes; held are those whose turn comes once they are mended.
    """

    reason: Reason
    message: str
    done: bool
    counts: Mapping[str, int]


def report(observed: Sequence[NodeView], now: dt.datetime, *, by_hand: bool = False) -> Report:
    """What there is to say. `by_hand`: a person deletes the pods (`daemonsets.updateStrategy: OnDelete`)."""
    stands = [(node, standing(node, now)) for node in observed]
    counts = {state: sum(_state(node, stand) == state for node, stand in stands) for state in STATES}
    reason, message = _said(stands, candidates(observed, now), counts, by_hand)
    done = counts["verified"] == len(observed)
    return Report(reason=reason, message=message, done=done, counts=counts)


def _state(node: NodeView, stand: Standing) -> str:
    if node.place == "outdated":
        return "held" if is_held(stand) or not node.reachable else "outdated"
    return {"verified": "verified", "busy": "changing", "failed": "failed"}[stand.state]


def _said(
    stands: Sequence[tuple[NodeView, Standing]], waiting: Sequence[NodeView], counts: Mapping[str, int], by_hand: bool
) -> tuple[Reason, str]:
    failed = [(n, s) for n, s in stands if n.place != "outdated" and s.state == "failed"]
    outdated = sorted(n.name for n, _ in stands if n.place == "outdated")
    done = counts["verified"]
    have, are = agreeing(done, "has", "have"), agreeing(done, "is", "are")
    progress = f"{done} of {len(stands)} nodes {have} the new revision and {are} verified"
    if outdated and by_hand:
        text = f"{progress}; {_listed(outdated)}: delete the toolkit's pod (spec.daemonsets.updateStrategy is OnDelete)"
        return "RolloutOnDelete", text
    if failed and outdated:
        return "RolloutStopped", f"{_failure(*failed[0])}. {progress}; {_keep(outdated)}. {_way_out(failed[0][0].name)}"
    if broken := [(n, s) for n, s in failed if s.verdict and s.verdict.stage == "toolkit" and n.place == "updated"]:
        return "ToolkitFailed", "; ".join(_failure(n, s) for n, s in broken[:NAMED])
    busy = [(n, s) for n, s in stands if n.place != "outdated" and s.state == "busy"]
    if outdated or any(n.stale for n, _ in busy):
        reason: Reason = "RollingOut" if busy or waiting else "RolloutHeld"
        return reason, "; ".join([progress, *_doing(busy), *_to_come(waiting), *_held(stands)])
    return "", ""


def _failure(node: NodeView, stand: Standing) -> str:
    return f"{node.name}: {stand.text}"


def _keep(outdated: Sequence[str]) -> str:
    return f"{_listed(outdated)} {'keeps' if len(outdated) == 1 else 'keep'} the old one"


def _way_out(node: str) -> str:
    return (
        f"It goes on by itself once {node} is mended; to go on without it: "
        f"kubectl label node {node} {LEAVE_OUT} --overwrite"
    )


def _doing(busy: Sequence[tuple[NodeView, Standing]]) -> list[str]:
    return [f"now {node.name}: {stand.text}" for node, stand in busy[:NAMED]]


def _to_come(waiting: Sequence[NodeView]) -> list[str]:
    return [f"next {_listed([node.name for node in waiting])}"] if waiting else []


def _held(stands: Sequence[tuple[NodeView, Standing]]) -> list[str]:
    """Nodes that are left alone, each with what must be mended there before its turn comes."""
    held = [(node, stand) for node, stand in stands if _state(node, stand) == "held"]
    told = [f"{node.name} keeps the old one until it is mended: {stand.text}" for node, stand in held[:NAMED]]
    return [*told, f"and {len(held) - NAMED} more such nodes"] if len(held) > NAMED else told


def _listed(nodes: Sequence[str]) -> str:
    rest = len(nodes) - NAMED
    return ", ".join(nodes[:NAMED]) + (f" and {rest} more" if rest > 0 else "")
