"""A later file takes away the runtime handler that another file defines.

Before containerd 2.0 the file that is read last replaces a plugin's table whole. A drop-in of three lines about a
registry is enough to remove every runtime that another drop-in defines.

Why it matters: each file looks right when it is read alone, and `containerd config dump` shows a plausible runc. Pods
that need the handler fail with `no runtime for "nvidia" is configured` from the next restart on.
Fix: repeat the lost settings in the file that is read last, or put all CRI settings into one file.
"""

from collections.abc import Iterator
from itertools import groupby

from lockgate.containerd.traps import Loss, LostHandler, lost_handlers
from lockgate.containerd.values import Origin
from lockgate.lint.repeat import repeat_in
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity


@lint_rule(codes=("E02",), severity=Severity.BLOCKER)
def dropin_overridden(config: Config) -> Iterator[Problem]:
    lost = [one for one in lost_handlers(config.effective, config.subject.files) if one.loss is Loss.TABLE_REPLACED]
    by_file = sorted(lost, key=lambda one: (one.defined.file, one.defined.line))
    for file, group in groupby(by_file, key=lambda one: one.defined.file):
        yield _problem(config, file, list(group))


def _problem(config: Config, file: str, lost: list[LostHandler]) -> Problem:
    winner = lost[0].winner
    assert winner is not None  # a replaced table has a replacement
    names = ", ".join(f'"{one.name}"' for one in lost)
    noun = "runtime" if len(lost) == 1 else "runtimes"
    left = ", ".join(sorted(config.effective.handlers)) or "none"
    return Problem(
        key=f"{file} {names}",
        summary=(
            f"{noun} {names} of {config.subject.show(file)} will not exist: {config.show(winner)} has the same plugin "
            f"table, and containerd {config.release} takes the later one whole (runtimes in effect: {left})"
        ),
        marks=(*(Mark.at(one.defined, f'defines runtime "{one.name}"') for one in lost), _winner(winner)),
        help="repeat the settings in the file that is read last, or move them all into one file",
        fixes=repeat_in(config, winner.file, lost[0].section),
    )


def _winner(winner: Origin) -> Mark:
    return Mark.at(winner, "read later: this table replaces the whole of the earlier one")
