"""What a rule is: a function whose parameters name the facts that it needs, and the outcomes that it may give.

    @rule(codes=("C09",), severity=Severity.BLOCKER, stages=(Stage.SCHEDULING,))
    def all_held(gate_one: GateOne) -> Failed | Passed | None: ...

A parameter is a section of the snapshot (`nodes`), a part of what is asked about (`pod`, `workload`) or a view derived
from them (`gate_one`). When one is Missing the rule is not called and its outcome is Skipped, unless the parameter's
annotation admits `Missing`: then the rule decides with less. None means that the rule has nothing to say here.
The docstring of the rule's module is its page: the title first, then what it is, `Why it matters:` and `Fix:`.
"""

import inspect
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple, get_args, get_type_hints

import msgspec

from lockgate.diagnosis.stage import Stage
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Severity

PACKAGE = "lockgate.rules"


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """The fault is there. What the rule declares (title, codes, severity) holds unless it is said otherwise here.

    `reach` is how many nodes it explains: of two causes that stand side by side the farther reaching is told first.
    `nodes` are those on which it was seen, where that is said: they, and not what was asked about, are struck by it.
    `parts` are the same fault node by node (see `on_each`): on one node it may follow from something that is fine on
    another. `spares` are ids that the rule mutes, and that do not follow from this very fault. What is `passing` goes
    on and is over by itself: what follows from it on its nodes is no worse than it is.
    """

    about: str
    summary: str
    evidence: tuple[Evidence, ...] = ()
    remedy: tuple[Remedy, ...] = ()
    codes: tuple[str, ...] = ()
    severity: Severity | None = None
    title: str = ""
    reach: int = 1
    nodes: tuple[str, ...] = ()
    parts: tuple["Failed", ...] = ()
    spares: tuple[str, ...] = ()
    passing: bool = False

    @property
    def told(self) -> tuple["Failed", ...]:
        """Its parts; itself where it has none."""
        return self.parts or (self,)


def on_each(parts: Sequence[Failed]) -> Failed:
    """The same fault of several nodes as one outcome; what has the same cause, or none, is told together again."""
    if len(parts) == 1:
        return parts[0]
    return msgspec.structs.replace(parts[0], parts=tuple(parts), reach=sum(p.reach for p in parts))


class Passed(msgspec.Struct, frozen=True):
    """The fault was looked for and is not there; `reason` is the observation that rules it out."""

    reason: str


class Skipped(msgspec.Struct, frozen=True):
    """The question stays open: why, how to get what is lacking, and whether the answer could change the verdict."""

    reason: str
    how: str = ""
    decides: bool = True


Outcome = Failed | Passed | Skipped | None
Check = Callable[..., Outcome]  # a function of a rule module


class Need(NamedTuple):
    """One parameter of a rule or view; an optional one is handed over also when it is Missing."""

    name: str
    optional: bool


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule as the engine and its documentation see it; `mutes` are the ids that follow from it when both fail.

    `ID:CODE` is one of them only as far as it has that code.
    """

    id: str
    title: str
    codes: tuple[str, ...]
    severity: Severity
    stages: tuple[Stage, ...]
    gpu: bool | None
    fallback: bool
    aside: bool
    asks_gpu: bool | None
    mutes: tuple[str, ...]
    runtime: str = ""
    needs: tuple[Need, ...]
    check: Check
    page: str


def rule(
    *,
    codes: tuple[str, ...],
    severity: Severity,
    stages: tuple[Stage, ...],
    gpu: bool | None = True,
    fallback: bool = False,
    aside: bool = False,
    asks_gpu: bool | None = True,
    mutes: tuple[str, ...] = (),
    runtime: str = "",
) -> Callable[[Check], Rule]:
    """Declare a rule. `asks_gpu` restricts it to pods that ask for a GPU (True), that do not (False) or neither (None),
    `runtime` to nodes whose kubelet uses that one (`containerd`), or does not say which.

    `gpu` is False for causes that are no GPU fault and None where a rule names a symptom and cannot tell. A `fallback`
    is asked only when no other rule failed. What is said `aside` stands beneath whatever else is found about the same
    subject, and keeps no fallback from speaking. The id is the place below `lockgate.rules`: `scheduling/all-held`.
    """

    def declare(check: Check) -> Rule:
        page = inspect.cleandoc(sys.modules[check.__module__].__doc__ or "")
        return Rule(
            id=_place(check),
            title=page.partition("\n")[0].rstrip("."),
            codes=codes,
            severity=severity,
            stages=stages,
            gpu=gpu,
            fallback=fallback,
            aside=aside,
            asks_gpu=asks_gpu,
            mutes=mutes,
            runtime=runtime,
            needs=needs_of(check),
            check=check,
            page=page,
        )

    return declare


@cache
def needs_of(function: Callable[..., Any]) -> tuple[Need, ...]:
    """The facts that a function's parameters name."""
    hints = get_type_hints(function)
    return tuple(Need(name, Missing in get_args(hints[name])) for name in inspect.signature(function).parameters)


def _place(check: Check) -> str:
    return check.__module__.removeprefix(PACKAGE + ".").replace(".", "/").replace("_", "-")
