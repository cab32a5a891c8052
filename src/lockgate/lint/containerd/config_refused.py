"""containerd refuses its configuration and does not start.

A drop-in of a newer config version than the release knows, a missing file that `imports` names, a value of the wrong
type, a key written twice: one bad file keeps the whole daemon from starting.

Why it matters: nothing happens until the next restart, which may be an upgrade or a reboot weeks later. Then every pod
of the node stays down.
Fix: correct the line that is shown.
"""

from collections.abc import Iterator

from lockgate.containerd.document import BOM
from lockgate.lint.lower_version import at_version_2
from lockgate.lint.rule import Fix, Mark, Problem, lint_rule
from lockgate.lint.statements import statements
from lockgate.lint.subject import Refusal
from lockgate.model.finding import Severity


@lint_rule(codes=("E08",), severity=Severity.BLOCKER)
def config_refused(refusal: Refusal) -> Iterator[Problem]:
    error, subject = refusal.error, refusal.subject
    verb = "crashes on" if error.panics else "refuses"
    yield Problem(
        key=error.message,
        summary=f"containerd {subject.release} {verb} {subject.show(error.file)}: {error.message}",
        marks=(Mark(error.file, error.line, error.message),),
        help=_help(refusal),
        fixes=_fixes(refusal),
    )


def _help(refusal: Refusal) -> str:
    message, release = refusal.error.message, refusal.subject.release
    if "higher than root config version" in message:
        return f"write the drop-in at the version of the top-level file; containerd {release} takes no newer drop-in"
    if "no such file or directory" in message:
        return "a pattern such as `/etc/containerd/conf.d/*.toml` may match nothing; a plain path must exist"
    if "config version" in message and release is not None:
        return f"containerd {release} knows config versions up to {release.family.config_version}"
    return ""


def _fixes(refusal: Refusal) -> tuple[Fix, ...]:
    file = refusal.error.file
    text = refusal.subject.text(file)
    if text.startswith(BOM):
        return (Fix("take the byte order mark out", {file: text.removeprefix(BOM)}),)
    if "higher than root config version 2" in refusal.error.message and refusal.subject.release is not None:
        lowered = at_version_2(text, statements(text, refusal.subject.release.family.toml))
        return (Fix("write it at version 2", {file: lowered}),) if lowered is not None else ()
    return ()
