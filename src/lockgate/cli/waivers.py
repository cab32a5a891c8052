"""`--waivers FILE`, and `lockgate.yaml` of the current folder: what may stay as it is, the same for every verb."""

import argparse
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

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
    from lockgate.collect.waiver_file import NAME, read_waivers

    if options.waivers is None and not Path(NAME).is_file():
        return ()
    path = Path(options.waivers or NAME)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    return read_waivers(path)


def waivers_today(options: argparse.Namespace) -> "Waivers":
    """What holds today, annotations to be added; raises collect.errors.InputError."""
    import datetime as dt

    from lockgate.diagnosis.waive import Waivers

    return Waivers(read_waivers_of(options), dt.datetime.now(dt.UTC).date())


def tell_expired(waivers: "Waivers", found: Iterable[str]) -> None:
    """Say on standard error which waivers of findings that are there have expired; `why` has them in its report."""
    ids = set(found)
    for waiver in waivers.known:
        if waiver not in waivers.holding and any(fnmatchcase(name, waiver.id) for name in ids):
            text = f"{waiver.id} at {waiver.where} -- {waiver.reason}"
            sys.stderr.write(f"lockgate: {waiver.source}: {text}: expired on {waiver.until}\n")
