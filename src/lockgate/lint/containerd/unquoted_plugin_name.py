"""A plugin name is written without quotes.

`[plugins.io.containerd.grpc.v1.cri]` is six nested tables, `io`, `containerd` and so on, not the plugin of that name.

Why it matters: containerd 2 ignores all of it without a word, containerd 1 does not start.
Fix: quote the name: `[plugins."io.containerd.grpc.v1.cri"]`.
"""

import re
from collections.abc import Iterator

from lockgate.lint.rule import Fix, Mark, Problem, lint_rule
from lockgate.lint.statements import Kind, Statement
from lockgate.lint.subject import Sources
from lockgate.model.finding import Severity

_NAME = re.compile(r"plugins\s*\.\s*(io\.containerd\.[A-Za-z0-9_-]+\.v\d+\.[A-Za-z0-9_-]+)")


@lint_rule(severity=Severity.ERROR, mutes=("containerd/config-refused",))
def unquoted_plugin_name(sources: Sources) -> Iterator[Problem]:
    for path in sources.paths:
        bad = [s for s in sources.statements(path) if s.path[:3] == ("plugins", "io", "containerd")]
        if bad:
            yield _problem(sources, path, bad)


def _problem(sources: Sources, path: str, bad: list[Statement]) -> Problem:
    lines = list(dict.fromkeys(s.line for s in bad if s.kind is not Kind.PAIR or s.table[:2] != ("plugins", "io")))
    starts = sources.release.family.plugin_by_id
    effect = "does not start" if starts else "ignores all of it"
    return Problem(
        key=path,
        summary=f"{sources.subject.show(path)} names a plugin without quotes; containerd {sources.release} {effect}",
        marks=tuple(_mark(sources, path, line) for line in lines[:5]),
        severity=Severity.BLOCKER if starts else None,
        fixes=_fixes(sources, path, lines),
    )


def _mark(sources: Sources, path: str, line: int) -> Mark:
    found = _NAME.search(sources.subject.line(path, line))
    return Mark(path, line, "nested tables, not the plugin of this name", found[1] if found else "")


def _fixes(sources: Sources, path: str, lines: list[int]) -> tuple[Fix, ...]:
    rows = sources.subject.text(path).split("\n")
    for number in lines:
        rows[number - 1] = _NAME.sub(r'plugins."\1"', rows[number - 1], count=1)
    return (Fix("quote the plugin name", {path: "\n".join(rows)}, (("plugins",),)),)
