"""A change that makes room for a pod, in words and as commands, and what the pod and the cluster would be after it."""

import enum

import msgspec

from lockgate.capacity.moves import Move
from lockgate.model.objects import Pod
from lockgate.scheduling.scene import Scene


class ChangeKind(enum.StrEnum):
    """What is changed, from the lightest to the heaviest; `preempt` is what the scheduler does unasked."""

    PREEMPT = "preempt"
    UNCORDON = "uncordon"
    TOLERATE = "tolerate"
    SELECT = "select"
    ASK_LESS = "ask-less"
    REPARTITION = "repartition"
    MOVE = "move"
    TOGETHER = "together"


class Change(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One change: in words, as a command where there is one, and how many copies fit after it (of those wanted).

    Of moves it is said whether they are proven to be the fewest.
    """

    kind: ChangeKind
    text: str
    command: str = ""
    copies: int = 0
    moves: tuple[Move, ...] = ()
    fewest: bool = False


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A change with the pod and the cluster as they would be; `touched` are the nodes that differ."""

    change: Change
    pod: Pod
    scene: Scene
    touched: frozenset[str] | None = None
