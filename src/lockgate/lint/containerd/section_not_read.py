"""A file's CRI section is not read at the config version that the files end up with.

Each config version has its own names: `cri` (1), `io.containerd.grpc.v1.cri` (2), `io.containerd.cri.v1.runtime` and
`.images` (3 and 4). containerd 1 never migrates; 2.0 to 2.2 migrate once, from the version of the last file that has
one, so that a drop-in of version 3 makes them forget a top-level file of version 2; from 2.3 on each file is migrated
alone.

Why it matters: the file is right for another release or another neighbour, and containerd ignores it without a word.
Fix: write all files at one config version, that of the top-level file.
"""

from collections.abc import Iterator
from itertools import groupby

from lockgate.containerd.releases import Migration
from lockgate.containerd.traps import Loss, lost_handlers
from lockgate.containerd.values import Leaf, Origin, dotted
from lockgate.lint.edits import add_pairs, set_at, with_runtimes
from lockgate.lint.lost_settings import LostSetting, lost_settings
from lockgate.lint.lower_version import at_version_2
from lockgate.lint.rule import Fix, Mark, Problem, lint_rule
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity

_SHOWN = 3


@lint_rule(codes=("E08",), severity=Severity.ERROR)
def section_not_read(config: Config) -> Iterator[Problem]:
    lost = [one for one in lost_settings(config) if one.by is None]
    handlers = {one.name for one in lost_handlers(config.effective, config.subject.files) if _unread(one.loss)}
    lost.sort(key=lambda one: (one.leaf.origin.file, one.section, one.leaf.origin.line, one.inside))
    for (file, section), group in groupby(lost, key=lambda one: (one.leaf.origin.file, one.section)):
        yield _problem(config, file, section, list(group), handlers)


def _unread(loss: Loss) -> bool:
    return loss is Loss.NAME_NOT_READ


def _problem(config: Config, file: str, section: str, lost: list[LostSetting], handlers: set[str]) -> Problem:
    names = sorted({one.inside[2] for one in lost if one.inside[:2] == ("containerd", "runtimes")} & handlers)
    what = ", ".join(dotted(one.inside) for one in lost[:_SHOWN]) + (" ..." if len(lost) > _SHOWN else "")
    said = f"runtime {', '.join(names)}" if names else what
    decider = _decider(config)
    return Problem(
        key=f"{file} {section}",
        summary=(
            f"{said} of {config.subject.show(file)} will have no effect: containerd {config.release} does not read "
            f'"{section}" {_why(config)}'
        ),
        marks=(
            *(Mark.at(one.leaf.origin, "no effect") for one in lost[:_SHOWN]),
            *((Mark.at(decider, "this version decides"),) if decider and decider.file != file else ()),
        ),
        help="write all files at the config version of the top-level file, with that version's section names",
        severity=Severity.BLOCKER if names else None,
        fixes=tuple(_fixes(config, lost, decider)),
    )


def _why(config: Config) -> str:
    if config.release.family.migration is Migration.MERGED:
        version = next(reversed(list(_versions(config))), None)
        said = f"version {version.value}" if version else "no version"
        return f"after files that end with {said}"
    return "at the config version of these files"


def _versions(config: Config) -> Iterator[Leaf]:
    for document in config.documents.values():
        if isinstance(leaf := document.get("version"), Leaf):
            yield leaf


def _decider(config: Config) -> Origin | None:
    said = list(_versions(config))
    return said[-1].origin if said else None


def _fixes(config: Config, lost: list[LostSetting], decider: Origin | None) -> Iterator[Fix]:
    """A version where there is none, or the version of version 2 names where another one stands."""
    every = lost_settings(config)
    intends = with_runtimes(config, (one.path for one in every))
    file = lost[0].leaf.origin.file
    if "version" not in config.documents[file]:
        text = add_pairs(config, file, {("version",): _version_of(lost[0].section)})
        if text is not None:
            yield Fix(f"say the config version in {config.subject.show(file)}", {file: text}, intends)
    if decider is not None and decider.file != file:
        lowered = at_version_2(config.subject.text(decider.file), config.statements(decider.file))
        if lowered is not None:
            yield Fix(f"write {config.subject.show(decider.file)} at version 2", {decider.file: lowered}, intends)
    if decider is not None:
        where = config.subject.show(decider.file)
        yield from set_at(config, decider, _version_of(lost[0].section), f"lower the version in {where}", *intends)


def _version_of(section: str) -> int:
    return {"cri": 1, "io.containerd.grpc.v1.cri": 2}.get(section, 3)
