"""What is seen of each node in a rollout, and the steps that can be taken."""

import datetime as dt
from dataclasses import dataclass
from typing import Final, Literal

Place = Literal["outdated", "changing", "updated"]
"""Whether a node's pod is of an older revision, on its way (leaving, or not there yet), or of the wanted one."""
Stage = Literal["toolkit", "devices", "validation"]
Outcome = Literal["passed", "waiting", "failed"]
STAGES: Final[tuple[Stage, ...]] = ("toolkit", "devices", "validation")  # in the order in which a node is verified
PATIENCE: Final = dt.timedelta(minutes=5)  # what only waits for longer has failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Ref:
    """A pod, so exactly that nothing but this one is deleted."""

    name: str
    uid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one stage of a node's verification has come to; `text` says what it waits for or why it failed."""

    stage: Stage
    outcome: Outcome
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """One node as it is now.

    `verdicts` judge the pod that is there, of whatever revision, one a stage. `validator` is the validator's pod,
    `stale` whether it passed before the toolkit was started. `since` is when the newest of its pods was made or told
    to go. `reachable`: the node is Ready.
    """

    name: str
    place: Place
    pod: Ref | None = None
    validator: Ref | None = None
    stale: bool = False
    verdicts: tuple[Verdict, ...] = ()
    since: dt.datetime | None = None
    reachable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """Delete a node's pod of an older revision; its successor makes the change."""

    node: str
    pod: Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Revalidate:
    """Delete the validator's pod, so that the node is validated again with what it has now."""

    node: str
    pod: Ref


Step = Restart | Revalidate
