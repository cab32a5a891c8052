"""A CDI device is defined twice, differently, and the directory that is read last wins.

`/var/run/cdi` goes before `/etc/cdi`. Usually `/etc/cdi` holds what a person generated once, and it has become stale.

Why it matters: an edit of the shadowed file has no effect; and when the other file goes, the stale one comes back.
Fix: keep one of both.
"""

from collections.abc import Iterator

from lockgate.cdi.registry import File
from lockgate.lint.device_lines import device_line
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import CdiFiles
from lockgate.model.finding import Severity


@lint_rule(codes=("E12",), severity=Severity.WARNING)
def shadowed(cdi: CdiFiles) -> Iterator[Problem]:
    for file in cdi.registry.files:
        winners: dict[str, tuple[File, list[str]]] = {}
        for device in file.spec.devices:
            found = cdi.registry.devices.get(file.spec.qualified(device.name))
            if found is not None and found.file.path != file.path and _differ(file, device.name, found.file):
                winners.setdefault(found.file.path, (found.file, []))[1].append(device.name)
        for winner, names in winners.values():
            yield _problem(cdi, file, winner, names)


def _differ(one: File, name: str, other: File) -> bool:
    edits = [
        (file.spec.container_edits, next(d.container_edits for d in file.spec.devices if d.name == name))
        for file in (one, other)
    ]
    return edits[0] != edits[1]


def _problem(cdi: CdiFiles, file: File, winner: File, names: list[str]) -> Problem:
    shown = ", ".join(file.spec.qualified(name) for name in names[:3]) + (" ..." if len(names) > 3 else "")
    return Problem(
        key=f"{file.path} {winner.path}",
        summary=f"{cdi.subject.show(file.path)} is not used for {shown}: {cdi.subject.show(winner.path)} goes first",
        marks=(
            Mark(file.path, device_line(cdi, file.path, names[0]), "shadowed"),
            Mark(winner.path, device_line(cdi, winner.path, names[0]), "counts"),
        ),
        help="keep one of both files",
    )
