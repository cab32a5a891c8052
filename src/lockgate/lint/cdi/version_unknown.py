"""A CDI specification is of a version that this containerd does not know.

Each containerd has the CDI library of its time built in, and leaves out files of a newer version.

Why it matters: the file is valid, other tools read it, and containerd resolves none of its devices.
Fix: write the file at the lowest version that its content needs (tools that generate specifications do), or use a
newer containerd.
"""

from collections.abc import Iterator
from typing import Final

from lockgate.cdi.registry import File
from lockgate.cdi.spec import VERSIONS
from lockgate.cdi.version import minimum_version
from lockgate.containerd.releases import Release
from lockgate.lint.device_lines import text_line
from lockgate.lint.rule import Fix, Mark, Problem, lint_rule
from lockgate.lint.subject import CdiFiles, Config
from lockgate.model.finding import Severity

# The newest CDI version that a release knows, from the library in its go.mod (v1.7.11 to v2.4.2 were looked at). Where
# the step lies between two of those, it is put at the earlier one: nothing is refused here that a release may accept.
_KNOWN: Final = (
    ("1.7.0", "0.5.0"),
    ("1.7.12", "0.6.0"),
    ("1.7.16", "0.7.0"),
    ("1.7.25", "0.8.0"),
    ("2.0.0", "1.0.0"),
    ("2.1.10", "1.1.0"),
)


@lint_rule(codes=("E12",), severity=Severity.ERROR)
def version_unknown(config: Config, cdi: CdiFiles) -> Iterator[Problem]:
    newest = _newest(config.release)
    if newest is None:
        return
    for file in cdi.registry.files:
        said = file.spec.cdi_version.removeprefix("v")
        if VERSIONS.index(said) > VERSIONS.index(newest):
            yield _problem(config, cdi, file, newest)


def _newest(release: Release) -> str | None:
    known = [version for since, version in _KNOWN if Release.parse(since) <= release]
    return known[-1] if known else None


def _problem(config: Config, cdi: CdiFiles, file: File, newest: str) -> Problem:
    needs, said = minimum_version(file.spec), file.spec.cdi_version
    enough = VERSIONS.index(needs) <= VERSIONS.index(newest)
    line = _version_line(cdi, file.path)
    return Problem(
        key=file.path,
        summary=(
            f"{config.subject.show(file.path)} is of CDI version {said}, and containerd {config.release} knows up to "
            f"{newest}: it leaves the file out" + (f"; its content needs {needs} only" if enough else "")
        ),
        marks=(Mark(file.path, line, f"newer than {newest}", said),),
        fixes=_fixes(config, file, needs, line) if enough else (),
    )


def _version_line(cdi: CdiFiles, path: str) -> int:
    lines = cdi.subject.text(path).splitlines()
    return next((n for n, line in enumerate(lines, 1) if "cdiVersion" in line), text_line(cdi, path, "cdiVersion"))


def _fixes(config: Config, file: File, needs: str, line: int) -> tuple[Fix, ...]:
    text = config.subject.text(file.path)
    rows = text.split("\n")
    if rows[line - 1].count(file.spec.cdi_version) != 1:
        return ()
    rows[line - 1] = rows[line - 1].replace(file.spec.cdi_version, needs)
    return (Fix(f"cdiVersion {needs}", {file.path: "\n".join(rows)}),)
