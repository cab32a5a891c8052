"""A later file takes away settings of another file.

Before containerd 2.0 the file that is read last replaces a plugin's table whole: with it go the registry, the sandbox
(pause) image, the cgroup driver and whatever else an earlier file says.

Why it matters: pulls fail or go to another registry, the pause image comes from a place that the node cannot reach,
CDI is off again; the file that says it otherwise looks right.
Fix: repeat the lost settings in the file that is read last, or put all CRI settings into one file.
"""

from collections.abc import Iterator
from itertools import groupby

from lockgate.containerd.values import Origin, dotted
from lockgate.kit.counted import few
from lockgate.lint.lost_settings import LostSetting, lost_settings
from lockgate.lint.repeat import repeat_in
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.statements import literal
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity

_SHOWN = 4


@lint_rule(codes=("E02",), severity=Severity.ERROR)
def settings_lost(config: Config) -> Iterator[Problem]:
    lost = sorted((one for one in lost_settings(config) if one.by and not _of_lost_handler(config, one)), key=_place)
    for (file, section, by), group in groupby(lost, key=_group):
        yield _problem(config, file, section, by, list(group))


def _of_lost_handler(config: Config, lost: LostSetting) -> bool:
    """Handlers have a rule of their own."""
    in_runtimes = lost.inside[:2] == ("containerd", "runtimes")
    return in_runtimes and len(lost.inside) > 2 and lost.inside[2] not in config.effective.handlers


def _group(lost: LostSetting) -> tuple[str, str, Origin]:
    assert lost.by is not None  # those without a winner are left out
    return lost.leaf.origin.file, lost.section, lost.by


def _place(lost: LostSetting) -> tuple[str, str, int, tuple[str, ...]]:
    return lost.leaf.origin.file, lost.section, lost.leaf.origin.line, lost.inside


def _problem(config: Config, file: str, section: str, by: Origin, lost: list[LostSetting]) -> Problem:
    names = few((dotted(one.inside) for one in lost), _SHOWN)
    return Problem(
        key=f"{file} {section}",
        summary=(
            f"{names} of {config.subject.show(file)} will have no effect: {config.show(by)} has the same plugin "
            f"table, and containerd {config.release} takes the later one whole"
        ),
        marks=(
            *(Mark.at(one.leaf.origin, _note(config, one)) for one in lost[:_SHOWN]),
            Mark.at(by, "read later: this table replaces the whole of the earlier one"),
        ),
        help="repeat the settings in the file that is read last, or move them all into one file",
        fixes=repeat_in(config, by.file, section),
    )


def _note(config: Config, lost: LostSetting) -> str:
    now = config.effective.leaf(*lost.path)
    if now is None or now.value in ("", [], None):
        return "not in effect"
    return f"in effect is {literal(now.value)}"
