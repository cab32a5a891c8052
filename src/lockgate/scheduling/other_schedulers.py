"""What schedulers other than kube-scheduler write about a pod that they do not place: KAI, Volcano, HAMi.

A row a text, each with what it is about. Words that no row knows are nobody's: they are quoted, not guessed at.
Sources: KAI-Scheduler pkg/scheduler/api and its issue 1876, volcano issues 3220 and 3948, HAMi pkg/scheduler (reasons
of a card that does not fit).
"""

import enum
import re
from typing import Final

import msgspec

from lockgate.kit.counted import counted


class Refusal(enum.StrEnum):
    """What a refusal is about, whoever wrote it."""

    QUOTA = "quota"  # the queue may not have that many, though nodes may
    DEVICES = "devices"  # no node, or no card, has what is asked for
    GANG = "gang"  # the group is placed together or not at all


class OtherRefusal(msgspec.Struct, frozen=True, kw_only=True):
    """One text, sorted: who wrote it, what it is about, and the words that say so."""

    scheduler: str
    about: Refusal
    words: str
    means: str


_Row = tuple[str, Refusal, re.Pattern[str], str]
_ROWS: Final[tuple[_Row, ...]] = (
    (
        "KAI",
        Refusal.QUOTA,
        re.compile(
            r"[Ww]orkload is over quota\. Workload requested (?P<asked>\S+) (?P<what>\S+), but (?P<queue>\S+) quota is "
            r"(?P<quota>\S+) \S+, while (?P<held>\S+) \S+ are already allocated[^.]*\."
        ),
        "queue {queue} has a quota of {quota} {what}, {held} are in use by work that cannot be preempted, "
        "and it asks for {asked}",
    ),
    (
        "KAI",
        Refusal.DEVICES,
        re.compile(r"node\(s\) didn't have enough of mig profile: (?P<profile>\S+)"),
        "no node has a MIG device {profile} left",
    ),
    (
        "KAI",
        Refusal.DEVICES,
        re.compile(r"(?P<count>\d+) node\(s\) didn't have enough resources: (?P<what>GPUs?)"),
        "{nodes} too few {what} left",
    ),
    (
        "Volcano",
        Refusal.QUOTA,
        re.compile(r"queue resource quota insufficient"),
        "its queue has used up what it may have",
    ),
    (
        "Volcano",
        Refusal.GANG,
        re.compile(r"(?P<short>\d+)/(?P<all>\d+) tasks in gang unschedulable: (?P<why>[^.]+)"),
        "{short} of {all} pods of its group fit nowhere, so none of them is placed ({why})",
    ),
    (
        "Volcano",
        Refusal.GANG,
        re.compile(r"pod group is not ready, (?P<why>[^.]*?(?P<wanted>\d+) minAvailable[^.]*)"),
        "its group is placed only when {wanted} of its pods fit at once ({why})",
    ),
    (
        "HAMi",
        Refusal.DEVICES,
        re.compile(
            r"(?P<why>CardTypeMismatch|CardUuidMismatch|CardTimeSlicingExhausted|CardComputeUnitsExhausted"
            r"|CardInsufficientMemory|CardInsufficientCore|CardNotHealth|CardCordoned|NumaNotFit"
            r"|ExclusiveDeviceAllocateConflict|CardMigTopologyInfeasible|NodeInsufficientDevice|ResourceQuotaNotFit)"
        ),
        "no card fits ({why})",
    ),
    (
        "HAMi",
        Refusal.DEVICES,
        re.compile(r"no available node, (?P<count>\d+) nodes do not meet"),
        "none of {count} nodes has a card that fits",
    ),
)


def parse_other(text: str) -> OtherRefusal | None:
    """The refusal that a text holds, the most telling row first; None for words that no row knows."""
    for scheduler, about, pattern, means in _ROWS:
        if found := pattern.search(text):
            said = found.groupdict()
            nodes = counted(int(said.get("count", 0)), "node has", "nodes have")
            told = means.format(nodes=nodes, **said)
            return OtherRefusal(scheduler=scheduler, about=about, words=found[0], means=told)
    return None
