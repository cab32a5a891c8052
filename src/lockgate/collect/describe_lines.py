"""The lines of a description, each with what its own value puts on further lines.

kubectl writes a message as it is, so what follows a newline in one begins wherever it likes, mostly at column 0. Of a
pod three values may hold a newline: an event's message, the pod's own, and that of a state that has ended, which
`Exit Code` always follows. Source: k8s.io/kubectl v0.37 pkg/describe: describePod, describeStatus, DescribeEvents.
"""

import re
from collections.abc import Iterator
from typing import Final

from lockgate.collect.unwrapped import is_prompt

EVENT: Final = re.compile(
    r"^\s*(?P<type>Normal|Warning)[ \t]+(?P<reason>\S+)[ \t]+"
    r"(?P<age>(?:<unknown>|<invalid>|(?:\d+[smhdy])+)(?: \(x\d+ over [^)]+\))?)[ \t]+"
    r"(?P<rest>\S(?s:.*))$"
)
_MESSAGE: Final = re.compile(r"^(?P<indent>[ \t]*)Message:[ \t]+\S")
_EXIT_CODE: Final = re.compile(r"^[ \t]+Exit Code:\s+-?\d+\s*$")
_INNER: Final = re.compile(r"^[ \t]+[A-Z][\w ]*:(?:\s|$)")
_MOST: Final = 4200  # lines: the kubelet keeps 4 KB of what a container says as it ends
# What describePod writes below the pod's own message.
_BELOW: Final = re.compile(
    r"^(?:SeccompProfile|LocalhostProfile|IPs?|Controlled By|NominatedNodeName|Resources|QoS Class|Readiness Gates"
    r"|(?:Init |Ephemeral )?Containers|Conditions|Volumes|Node-Selectors|Tolerations|Topology Spread Constraints"
    r"|Events):"
)


def whole_lines(text: str) -> Iterator[str]:
    """Each line as kubectl wrote it; one whose value has several lines comes as one text with newlines in it."""
    lines, at = text.split("\n"), 0
    while at < len(lines):
        end = _end(lines, at)
        yield "\n".join(lines[at:end]).rstrip()
        at = end


def _end(lines: list[str], at: int) -> int:
    """Where the value ends that a line begins."""
    if EVENT.match(lines[at]):
        return _end_of_event(lines, at + 1)
    message = _MESSAGE.match(lines[at])
    if message is None:
        return at + 1
    return _end_in_state(lines, at + 1) if message["indent"] else _next(lines, at + 1, _BELOW)


def _end_of_event(lines: list[str], start: int) -> int:
    """The next event or prompt; of the last event a blank line is the end, since anything may stand below it."""
    blank = None
    for at in range(start, len(lines)):
        if EVENT.match(lines[at]):
            return at
        if is_prompt(lines[at]):
            return at if blank is None else blank
        if blank is None and not lines[at].strip():
            blank = at
    return len(lines) if blank is None else blank


def _end_in_state(lines: list[str], start: int) -> int:
    """The exit code; where it was cut off, the next field."""
    below = _next(lines, start, _BELOW, min(start + _MOST, len(lines)))
    exit_code = _next(lines, start, _EXIT_CODE, below)
    return exit_code if exit_code < below else _next(lines, start, _INNER, below)


def _next(lines: list[str], start: int, pattern: re.Pattern[str], end: int | None = None) -> int:
    """The first line that fits, before `end` or that of the text; else that end."""
    end = len(lines) if end is None else end
    return next((at for at in range(start, end) if pattern.match(lines[at])), end)
