"""`--waivers FILE`, and `lockgate.yaml` of the current folder: what may stay as it is, the same for every verb."""

import argparse
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from lockgate.cli.sources import complain

if TYPE_CHECKING:
    from lockgate.diagnosis.waive import Waivers
    from lockgate.model.waiver import Waiver


def add_waiver_arguments(parser: argparse.ArgumentParser) -> None:
    """`--waivers FILE`."""
    parser.add_argument(
        "--waivers",
        metavar="FILE",
        help="what may stay (default: lockgate.yaml of this folder, if it is there)",
    )


def read_waivers_of(options: argparse.Namespace) -> tuple["Waiver", ...]:
    """The waivers that the flags name; raises collect.errors.InputError."""
    from pathlib import Path

    from lockgate.collect.errors import InputError
    from lockgate.collect.waiver_file import NAME, NoWaiversError, read_waivers

    if options.waivers is None and not Path(NAME).is_file():
        return ()
    path = Path(options.waivers or NAME)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    try:
        return read_waivers(path)
    except NoWaiversError as error:
        if options.waivers is not None:
            raise
        complain(str(error), 0)  # nobody named it: it may be a file of something else
        return ()


def waivers_today(options: argparse.Namespace) -> "Waivers":
    """What holds today, annotations to be added; raises collect.errors.InputError."""
    import datetime as dt

    from lockgate.diagnosis.waive import Waivers, without_rule

    known = read_waivers_of(options)
    return Waivers(known, dt.datetime.now(dt.UTC).date(), without_rule(known, _ids()) if known else ())


def _ids() -> list[str]:
    """The ids that findings of `why` and of `lint` may have: one file waives both."""
    from lockgate.lint import all_rules as lint_rules
    from lockgate.lint.suppress import WITHOUT_REASON
    from lockgate.rules import all_rules

    return sorted({WITHOUT_REASON, *(rule.id for rule in all_rules()), *(rule.id for rule in lint_rules())})


def tell_void(waivers: "Waivers", found: Iterable[str]) -> None:
    """Say on standard error which waivers have no effect: ids that no rule has, and expired ones of what is found.

    `why` has them in its report.
    """
    for void in waivers.void:
        complain(f"{void.source}: {void.text}: {void.problem}", 0)
    ids = set(found)
    for waiver in waivers.known:
        if waiver not in waivers.holding and any(fnmatchcase(name, waiver.id) for name in ids):
            text = f"{waiver.id} at {waiver.where} -- {waiver.reason}"
            complain(f"{waiver.source}: {text}: expired on {waiver.until}", 0)
