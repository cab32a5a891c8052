"""containerd has not loaded what was written into its files since it started.

containerd reads its files only when it starts. A drop-in that was added or edited since then waits for the next
restart, whoever causes it: an upgrade, a crash, a toolkit that sends SIGHUP.

Why it matters: what the files say is not what runs. A trap that somebody has set stays unseen until the restart, and
what somebody has mended is not in effect.
Fix: see what the files amount to (`kubectl gpu effective`), then restart containerd on this node; pods keep running.
"""

import datetime as dt
from collections.abc import Iterator
from typing import Final

from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import Config, NodeFacts
from lockgate.model.finding import Severity

# The start is known to the second only, and the kernel's time of boot moves by as much.
_UNSURE: Final = dt.timedelta(seconds=2)


@lint_rule(codes=("E01",), severity=Severity.WARNING)
def newer_than_process(config: Config, node: NodeFacts) -> Iterator[Problem]:
    if node.started is None:
        return
    written = {path: node.modified[path] for path in config.effective.loaded if path in node.modified}
    newer = {path: at for path, at in written.items() if at > node.started + _UNSURE}
    if newer:
        names = ", ".join(map(config.subject.show, newer))
        yield Problem(
            key=" ".join(newer),
            summary=f"containerd runs since {_said(node.started)} and has not loaded what was written since: {names}",
            marks=tuple(Mark(path, 0, f"written {_said(at)}") for path, at in newer.items()),
            help="systemctl restart containerd, once `kubectl gpu effective` shows what is wanted",
        )


def _said(moment: dt.datetime) -> str:
    return f"{moment.astimezone(dt.UTC):%Y-%m-%d %H:%M:%S} UTC"
