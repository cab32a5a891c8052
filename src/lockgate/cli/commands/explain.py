"""`explain [ID|CODE|TOPIC|TEXT]`: what a finding or a concept is, how it works, what to do. It needs no cluster."""

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

DESCRIPTION = (
    "Explain a finding, a code of the catalogue, a topic, or a pasted error text. Without an argument: list all."
)
EXAMPLES = """examples:
  {prog} explain scheduling/all-held
  {prog} explain C09
  {prog} explain two-gates
  {prog} explain 'no runtime for "nvidia" is configured'
  {prog} explain 'a GPU pod is Pending, where do I start?'

exit codes: 0 explained, 2 nothing fits what was asked
"""
_MOST = 3  # pages in full; further ones are named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to explain."""
    parser.add_argument("asked", metavar="ID|CODE|TOPIC|TEXT", nargs="*", help="as one argument or several words")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="text (default) or json")


def run(options: argparse.Namespace) -> int:
    """Find, render; returns the exit code."""
    from lockgate.cli.pages import all_pages, find, suggestions
    from lockgate.cli.render import explain

    asked = " ".join(options.asked).strip()
    if not asked:
        return _write(explain.listing(all_pages()) if options.output == "text" else explain.as_json(all_pages()))
    pages = find(asked)
    if not pages:
        near = suggestions(asked)
        hint = f"; did you mean {' or '.join(near)}?" if near else " (`explain` alone lists what there is)"
        sys.stderr.write(f'lockgate: nothing is known about "{asked[:200]}"{hint}\n')
        return 2
    return _write(explain.as_text(pages, _MOST) if options.output == "text" else explain.as_json(pages))


def _write(text: str) -> int:
    sys.stdout.write(text)
    return 0
