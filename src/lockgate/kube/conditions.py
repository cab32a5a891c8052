"""Conditions of a status: what holds now, and since when."""

import datetime as dt
from collections.abc import Iterable, Sequence

from lockgate.model.objects import Condition


def renew(
    before: Iterable[Condition], now_true: Sequence[Condition], now: dt.datetime, generation: int
) -> tuple[Condition, ...]:
    """The wanted conditions with times: one that keeps its status keeps its `lastTransitionTime`."""
    known = {condition.type: condition for condition in before}
    return tuple(_timed(condition, known.get(condition.type), now, generation) for condition in now_true)


def _timed(condition: Condition, before: Condition | None, now: dt.datetime, generation: int) -> Condition:
    same = before is not None and before.status == condition.status and before.last_transition_time is not None
    since = before.last_transition_time if before and same else now
    return Condition(
        type=condition.type,
        status=condition.status,
        reason=condition.reason,
        message=condition.message,
        last_transition_time=since,
        observed_generation=generation,
    )
