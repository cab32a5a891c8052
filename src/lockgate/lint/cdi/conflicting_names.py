"""Two CDI specifications of one directory define the same device name.

By the CDI rules neither counts then, and the name is dropped even if another directory defines it too.

Why it matters: pods that get the device fail with `unresolvable CDI devices`.
Fix: remove one of the files; usually one is left over from another tool or an older version.
"""

from collections.abc import Iterator

from lockgate.kit.counted import few
from lockgate.lint.device_lines import device_line
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import CdiFiles
from lockgate.model.finding import Severity


@lint_rule(codes=("E12",), severity=Severity.ERROR)
def conflicting_names(cdi: CdiFiles) -> Iterator[Problem]:
    by_files: dict[tuple[str, ...], list[str]] = {}
    for name in sorted(cdi.registry.conflicts):
        files = tuple(f.path for f in cdi.registry.files if name in {f.spec.qualified(d.name) for d in f.spec.devices})
        by_files.setdefault(files, []).append(name)
    for files, names in by_files.items():
        shown = few(names, 4)
        first = names[0].partition("=")[2]
        yield Problem(
            key=" ".join(files),
            summary=f"{' and '.join(map(cdi.subject.show, files))} both define {shown}: neither counts",
            marks=tuple(Mark(path, device_line(cdi, path, first), f"defines {names[0]}") for path in files),
            help="remove one of the files",
        )
