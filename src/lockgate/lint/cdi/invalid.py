"""A CDI specification is not valid, and the runtime leaves it out.

A field that the specification does not know, a device without a name or without edits, a version that does not fit
what the document uses: one such fault makes the whole file useless.

Why it matters: every device of the file is gone; pods fail with `unresolvable CDI devices`.
Fix: let the tool that wrote the file write it again, or correct the line that is shown.
"""

import re
from collections.abc import Iterator

from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import CdiFiles
from lockgate.model.finding import Severity

_LINE = re.compile(r"line (\d+)")
_QUOTED = re.compile(r'"([^"]+)"')


@lint_rule(codes=("E12",), severity=Severity.ERROR)
def invalid(cdi: CdiFiles) -> Iterator[Problem]:
    usable = {file.path for file in cdi.registry.files}
    for path, troubles in cdi.registry.troubles.items():
        if path in usable:
            continue  # its devices conflict with another file's: another rule
        crashes = path in cdi.registry.crashing
        reason = troubles[0].rpartition(": ")[2] if crashes else _reason(troubles[0])
        effect = "containerd crashes on it" if crashes else "the runtime leaves it out"
        yield Problem(
            key=path,
            summary=f"{cdi.subject.show(path)} is no valid CDI specification, {effect}: {reason}",
            marks=(Mark(path, _line(cdi, path, reason), "here"),),
            severity=Severity.BLOCKER if crashes else None,
        )


def _reason(trouble: str) -> str:
    """The library's words without the path, which is said already."""
    text = re.sub(r'^failed to load CDI Spec (?:failed to (?:parse|read) CDI Spec "[^"]*"[:,] ?)?', "", trouble)
    text = re.sub(r"^failed to unmarshal CDI Spec: ", "", text)
    return " ".join(text.removeprefix("invalid CDI Spec: ").split())


def _line(cdi: CdiFiles, path: str, reason: str) -> int:
    """The line that the message names, else the first that has what it quotes, else the first."""
    found = _LINE.search(reason)
    if found:
        return int(found[1])
    lines = cdi.subject.text(path).splitlines()
    for quoted in reversed(_QUOTED.findall(reason)):
        for number, line in enumerate(lines, 1):
            if quoted in line:
                return number
    return 1
