"""`bundle show FILE` says what is in a bundle and what is not; `bundle diff A B` what changed from one to the other."""

import argparse
import sys
from typing import Any

from lockgate.cli.sources import complain
from lockgate.kit.counted import counted

DESCRIPTION = (
    "Look into a bundle that `collect` wrote (or a folder, or an archive of one): what is in it, what was taken out, "
    "what lacks. Or compare two: which findings came and went, which objects and files of nodes differ."
)
EXAMPLES = """examples:
  {prog} bundle show bundle.tgz
  {prog} bundle diff before.tgz after.tgz
  {prog} bundle diff monday/ today.tgz -o json

exit codes: show: 0 complete, 4 something lacks; diff: 0 nothing differs, 3 an error or blocker appeared,
            4 something else differs; 1 the tool failed, 2 bad usage or input
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do with which files."""
    parser.add_argument("what", choices=("show", "diff"), help="show one, or compare two")
    parser.add_argument("paths", metavar="PATH", nargs="+", help="a bundle, a folder, an archive of one")
    parser.add_argument("-o", "--output", choices=("text", "json", "markdown"), default="text", help="text (default)")


def run(options: argparse.Namespace) -> int:
    """Read and render; returns the exit code."""
    from lockgate.collect.errors import InputError

    wanted = 1 if options.what == "show" else 2
    if len(options.paths) != wanted:
        return complain(f"bundle {options.what} takes {counted(wanted, 'PATH')}", 2)
    try:
        return _show(options) if options.what == "show" else _diff(options)
    except InputError as error:
        return complain(str(error), 2)
    except OSError as error:
        return complain(f"{error.filename or options.paths[0]}: cannot be read ({error.strerror or error})", 2)


def _show(options: argparse.Namespace) -> int:
    from lockgate.cli.contents import as_dict, contents
    from lockgate.cli.render import bundle

    seen = contents(options.paths[0])
    form = bundle.contents_markdown if options.output == "markdown" else bundle.contents_text
    _write(options.output, as_dict(seen), form(seen))
    return seen.exit_code


def _diff(options: argparse.Namespace) -> int:
    from lockgate.cli.comparing import as_dict, compare
    from lockgate.cli.render import bundle
    from lockgate.collect.offline import from_path

    names = (options.paths[0], options.paths[1])
    before, after = (from_path(path, sys.stdin.buffer) for path in names)
    seen = compare(before, after)
    form = bundle.comparison_markdown if options.output == "markdown" else bundle.comparison_text
    _write(options.output, as_dict(names, seen), form(names, seen))
    return seen.exit_code


def _write(output: str, document: dict[str, Any], text: str) -> None:
    from lockgate.cli.render.json import render_json

    match output:
        case "json":
            sys.stdout.write(render_json(document))
        case _:
            sys.stdout.write(text)
