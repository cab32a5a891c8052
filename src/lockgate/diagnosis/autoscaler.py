"""What an autoscaler last said about a pod that waits: that a node is coming, or that none is."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Final

from lockgate.model.objects import Event

# karpenter pkg/controllers/provisioning/scheduling: events.go, scheduler.go, nodeclaim.go
KARPENTER_REFUSAL: Final = re.compile(r"Failed to schedule pod, (?P<why>.+)", re.DOTALL)
# cluster-autoscaler and Karpenter when a node is coming.
COMING: Final = ("TriggeredScaleUp", "Nominated")
# How long both wait for a node before they give it up: --max-node-provision-time, and Karpenter's registration TTL.
_LONGEST: Final = dt.timedelta(minutes=15)


def last_word(events: Sequence[Event]) -> Event | None:
    """The latest event of an autoscaler about a pod; None where none speaks."""
    return next((e for e in reversed(events) if _speaks(e)), None)


def coming(events: Sequence[Event], taken_at: dt.datetime | None) -> Event | None:
    """The word of an autoscaler that it adds a node, where that is its latest and the node may still come.

    Where nobody says when the facts were gathered, the newest event about the pod tells how late it is at least.
    """
    said = last_word(events)
    if said is None or said.reason not in COMING:
        return None
    moments = [each.last_seen for each in events if each.last_seen is not None]
    now = taken_at or max(moments, default=None)
    is_late = now is not None and said.last_seen is not None and now - said.last_seen > _LONGEST
    return None if is_late else said


def _speaks(seen: Event) -> bool:
    return seen.reason in (*COMING, "NotTriggerScaleUp") or bool(KARPENTER_REFUSAL.search(seen.text))
