"""A CDI specification brings device nodes, libraries or programs that the node does not have.

It was written for another driver version or before devices changed, and nobody renewed it.

Why it matters: containers that get the device do not start: `failed to stat CDI host device`, or runc cannot mount.
Fix: write the specification again; Lockgate's toolkit renews its own by itself.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby

from lockgate.cdi.registry import File
from lockgate.kit.counted import few
from lockgate.lint.cdi_paths import HostPath, host_paths
from lockgate.lint.device_lines import text_line
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import CdiFiles
from lockgate.model.finding import Severity

_SHOWN = 3


@lint_rule(codes=("E12",), severity=Severity.ERROR)
def path_gone(cdi: CdiFiles, presence: Mapping[str, bool]) -> Iterator[Problem]:
    for file in cdi.registry.files:
        gone = [path for path in host_paths(file) if presence.get(path.path) is False]
        unique = [next(same) for _, same in groupby(sorted(gone, key=_path), key=_path)]
        if unique:
            yield _problem(cdi, file, unique)


def _path(path: HostPath) -> str:
    return path.path


def _problem(cdi: CdiFiles, file: File, gone: list[HostPath]) -> Problem:
    shown = few((f"{one.what} {one.path}" for one in gone), _SHOWN)
    who = "every device of it" if any(not one.device for one in gone) else f"device {gone[0].device}"
    return Problem(
        key=file.path,
        summary=f"{cdi.subject.show(file.path)} needs what the node does not have: {shown}; {who} is unusable",
        marks=tuple(
            Mark(file.path, text_line(cdi, file.path, one.path), "not on the node", one.path) for one in gone[:_SHOWN]
        ),
        help="write the specification again",
    )
