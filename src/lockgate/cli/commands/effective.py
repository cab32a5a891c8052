"""`effective`: what a set of containerd files amounts to on a release, with the place of each value. It only looks."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from lockgate.cli.sources import FactsError, complain
from lockgate.cli.subjects import add_subject_arguments, read_subjects

if TYPE_CHECKING:
    from lockgate.lint.subject import Subject
    from lockgate.model.finding import NotChecked

DESCRIPTION = (
    "Print the configuration that containerd really has: all files read, merged and migrated as that release does."
)
EXAMPLES = """examples:
  {prog} effective /etc/containerd/config.toml --release 1.7.24
  {prog} effective ./etc-containerd --release 2.1.9 --provenance
  {prog} effective bundle.tgz --node gpu-3 -o json
  {prog} effective --node gpu-3

exit codes: 0 shown, 1 the tool or the cluster failed, 2 bad usage or input, 3 the release refuses the configuration,
            4 shown as another release has it: the given one is not known
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to read, and in which form to print it."""
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="?",
        help="config.toml, a folder that stands for /etc/containerd or for /, or a bundle",
    )
    parser.add_argument("-o", "--output", choices=("toml", "json"), default="toml", help="toml (default) or json")
    parser.add_argument("--provenance", action="store_true", help="say which file and line each value comes from")
    add_subject_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read, resolve, print; returns the exit code."""
    from lockgate.containerd.load import ConfigError
    from lockgate.lint.release_doubt import release_doubt

    try:
        subject = _one(options)
    except FactsError as error:
        return complain(f"effective: {error}", error.code)
    effective, doubt = subject.effective, release_doubt(subject)
    if doubt is not None:
        complain(f"effective: {doubt.reason}; {doubt.how}", 4)
    if options.output == "json":
        _print_json(subject, options.provenance, doubt)
    elif isinstance(effective, ConfigError):
        return complain(f"containerd {subject.release} refuses it: {_shown(subject, effective)}", 3)
    else:
        _print_toml(subject, options.provenance)
    if isinstance(effective, ConfigError):
        return 3
    return 4 if doubt else 0


def _one(options: argparse.Namespace) -> "Subject":
    """The one configuration that is asked about."""
    found = [one.subject for one in read_subjects([options.path] if options.path else [], options)]
    configured = [subject for subject in found if subject.root]
    if not configured:
        raise FactsError(f"{options.path or options.node}: holds no top-level containerd configuration", 2)
    if len(configured) > 1:
        names = ", ".join(subject.name or subject.show(subject.root) for subject in configured)
        how = "give --node" if configured[0].name else "give one of these files"
        raise FactsError(f"{options.path}: holds several configurations ({names}); {how}", 2)
    if configured[0].release is None:
        raise FactsError(
            f"{options.path or options.node}: which containerd? give --release 1.7.24, or put the output of "
            "`containerd --version` into containerd-version.txt beside the files",
            2,
        )
    return configured[0]


def _shown(subject: "Subject", error: Any) -> str:
    place = f"{subject.show(error.file)}:{error.line}" if error.line else subject.show(error.file)
    return f"{place}: {'it crashes: ' if error.panics else ''}{error.message}"


def _print_json(subject: "Subject", provenance: bool, doubt: "NotChecked | None") -> None:
    import json

    import msgspec

    from lockgate.containerd.show import as_data

    effective = subject.effective
    assert effective is not None  # release and root are known
    data = as_data(effective, provenance=provenance)
    for place in data.get("provenance", {}).values():
        for item in (place, *place["overrode"]):
            item["file"] = subject.show(item["file"]) if item["file"] else ""
    if "error" in data:
        data["error"]["file"] = subject.show(data["error"]["file"])
    if doubt is not None:
        data["notChecked"] = [msgspec.to_builtins(doubt)]
    sys.stdout.write(json.dumps(data, indent=2) + "\n")


def _print_toml(subject: "Subject", provenance: bool) -> None:
    from lockgate.cli.render.effective_toml import render_toml
    from lockgate.containerd.effective import Effective

    effective = subject.effective
    assert isinstance(effective, Effective)  # an error was told before
    sys.stdout.write(render_toml(effective, subject.show if provenance else None))
