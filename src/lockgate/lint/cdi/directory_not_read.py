"""CDI specifications lie in a directory that containerd does not read.

`cdi_spec_dirs` replaces the usual `/etc/cdi` and `/var/run/cdi`; what is left out of it is not searched.

Why it matters: the specification is there and valid, and pods fail with `unresolvable CDI devices`.
Fix: name the directory in `cdi_spec_dirs`, or remove the setting.
"""

from collections.abc import Iterator
from posixpath import dirname

from lockgate.cdi.registry import DEFAULT_DIRECTORIES
from lockgate.containerd.values import Leaf
from lockgate.lint.edits import set_at
from lockgate.lint.rule import Fix, Mark, Problem, lint_rule
from lockgate.lint.subject import CdiFiles, Config, plain_directory
from lockgate.model.finding import Severity


@lint_rule(codes=("E11", "E12"), severity=Severity.ERROR)
def directory_not_read(config: Config, cdi: CdiFiles) -> Iterator[Problem]:
    effective = config.effective
    leaf = effective.leaf("plugins", config.runtime, "cdi_spec_dirs")
    if not effective.injects_cdi or effective.cri_disabled or leaf is None or leaf.origin.is_built_in:
        return
    read = {plain_directory(path) for path in effective.cdi_spec_dirs or ()}
    for directory in DEFAULT_DIRECTORIES:
        lost = [p for p in cdi.paths if plain_directory(dirname(p)) == plain_directory(directory)]
        if lost and plain_directory(directory) not in read:
            yield _problem(config, leaf, directory, lost)


def _problem(config: Config, leaf: Leaf, directory: str, lost: list[str]) -> Problem:
    shown = ", ".join(map(config.subject.show, lost))
    return Problem(
        key=directory,
        summary=f"containerd does not read {shown}: cdi_spec_dirs does not name {directory}",
        marks=(Mark.at(leaf.origin, f"does not name {directory}"), *(Mark(path, 1, "not read") for path in lost[:3])),
        fixes=_fixes(config, leaf, directory),
    )


def _fixes(config: Config, leaf: Leaf, directory: str) -> tuple[Fix, ...]:
    named = list(leaf.value) if isinstance(leaf.value, list) else []
    # The usual order: what lies in /etc/cdi gives way to what the running system has written.
    wanted = [directory, *named] if directory == DEFAULT_DIRECTORIES[0] else [*named, directory]
    return set_at(
        config, leaf.origin, wanted, f"name {directory} in cdi_spec_dirs", ("plugins", config.runtime, "cdi_spec_dirs")
    )
