"""What a lint rule is: a function whose parameters name what it judges, yielding problems with their lines.

    @lint_rule(codes=("E06",), severity=Severity.BLOCKER)
    def cri_disabled(config: Config) -> Iterator[Problem]: ...

A parameter is `config` (files that the release loads), `refusal` (files that it refuses), `sources` (the texts, loaded
or not), `cdi` (CDI specifications), `presence` (which paths the node has), `node` (what the cluster says of it),
`manifests` (Kubernetes objects) or `cluster` (what these are judged against). A rule whose parameter is not there has
nothing to judge. The docstring of the rule's module is its page, as for the
rules of `why`.
"""

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from lockgate.containerd.values import Origin
from lockgate.model.finding import Severity

PACKAGE = "lockgate.lint"
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    """A line that is shown: its place, what it means, and the part to underline ("" for all of the line)."""

    file: str
    line: int
    note: str = ""
    needle: str = ""

    @classmethod
    def at(cls, origin: Origin, note: str = "", needle: str = "") -> "Mark":
        """The line of an origin."""
        return cls(origin.file, origin.line, note, needle)


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit that may heal: new texts by file, and the effective settings (by prefix) that it is meant to change.

    It is offered only when a simulation shows that the problem is gone and nothing else has changed.
    """

    text: str
    files: Mapping[str, str]
    intends: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The fault is there. `key` tells it from the rule's other problems, and stays when lines move.

    `within` is the pod template that it speaks of, where a file holds several: one silences no problem of another.
    """

    key: str
    summary: str
    marks: tuple[Mark, ...] = ()
    help: str = ""
    title: str = ""
    severity: Severity | None = None
    codes: tuple[str, ...] | None = None
    within: str = ""
    fixes: tuple[Fix, ...] = field(default=())


Check = Callable[..., Iterator[Problem]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LintRule:
    """A rule as the engine and its pages see it; `mutes` are ids that are left out where both would mark a file,
    and one pod template in it."""

    id: str
    title: str
    codes: tuple[str, ...]
    severity: Severity
    mutes: tuple[str, ...]
    needs: tuple[str, ...]
    check: Check
    page: str


def lint_rule(
    *, severity: Severity, codes: tuple[str, ...] = (), mutes: tuple[str, ...] = ()
) -> Callable[[Check], LintRule]:
    """Declare a rule; its id is its place below `lockgate.lint`: `containerd/cri-disabled`."""

    def declare(check: Check) -> LintRule:
        page = inspect.cleandoc(sys.modules[check.__module__].__doc__ or "")
        return LintRule(
            id=check.__module__.removeprefix(PACKAGE + ".").replace(".", "/").replace("_", "-"),
            title=page.partition("\n")[0].rstrip("."),
            codes=codes,
            severity=severity,
            mutes=mutes,
            needs=tuple(inspect.signature(check).parameters),
            check=check,
            page=page,
        )

    return declare
