"""`explain [ID|CODE|TOPIC|TEXT]`: what a finding or a concept is, how to tell, what to do; `--here`: where it shows."""

import argparse
import sys
from typing import TYPE_CHECKING

from lockgate.cli.scoping import add_namespace_arguments, add_selector_argument, pods_wanted
from lockgate.cli.sources import FactsError, add_source_arguments, complain, read_everything

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockgate.cli.pages import Page
    from lockgate.cli.surveying import Survey

DESCRIPTION = (
    "Explain a finding, a code of the catalogue, a topic, or a pasted error text. Without an argument: list all."
)
EXAMPLES = """examples:
  {prog} explain scheduling/all-held
  {prog} explain C09
  {prog} explain two-gates
  {prog} explain 'no runtime for "nvidia" is configured'
  {prog} explain 'a GPU pod is Pending, where do I start?'
  {prog} explain capacity --here                  with the numbers of this cluster
  {prog} explain time-slicing -n ml               where one namespace meets it
  {prog} explain 'Insufficient nvidia.com/gpu' -l app=train

exit codes: 0 explained, 1 the cluster failed (only where it is looked at), 2 nothing fits what was asked
"""
_MOST = 3  # pages in full; further ones are named


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to explain, how, and whether to look where a cluster shows it."""
    parser.add_argument("asked", metavar="ID|CODE|TOPIC|TEXT", nargs="*", help="as one argument or several words")
    parser.add_argument("-o", "--output", choices=("text", "json", "markdown"), default="text", help="text (default)")
    parser.add_argument(
        "--here", action="store_true", help="say also where the live cluster shows it now, and its numbers"
    )
    add_namespace_arguments(parser, "what is wrong with the pods, and the nodes,")
    add_selector_argument(parser, "what is wrong with pods with these labels, and their nodes", "app=train")
    add_source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Find, look, render; returns the exit code."""
    from lockgate.cli.pages import all_pages, find, suggestions
    from lockgate.kit.near import did_you_mean

    asked = " ".join(options.asked).strip()
    if not asked and _looks(options):
        return complain("explain: --here, --from, -n, -A and -l say where to look; give what to explain as well", 2)
    if not asked:
        return _write(all_pages(), options, None)
    pages = find(asked)
    if not pages:
        hint = did_you_mean(suggestions(asked)) or " (`explain` alone lists what there is)"
        return complain(f'nothing is known about "{asked[:200]}"{hint}', 2)
    try:
        return _write(pages, options, _survey(options))
    except FactsError as error:
        return complain(str(error), error.code)


def _looks(options: argparse.Namespace) -> bool:
    """Whether a cluster is asked for: by name, or by what is to be shown of it."""
    return bool(options.here or options.source or options.namespace or options.all_namespaces or options.selector)


def _survey(options: argparse.Namespace) -> "Survey | None":
    """What the cluster shows now, None where nobody asked; raises FactsError."""
    if not _looks(options):
        return None
    from lockgate.capacity.overview import UnreadableError
    from lockgate.cli.here import look
    from lockgate.diagnosis.target import TargetMissingError

    try:
        snapshot = read_everything(options)
        return look(snapshot, pods_wanted(options, snapshot, options.selector))
    except TargetMissingError as error:
        raise FactsError(str(error), 2) from None
    except UnreadableError as error:
        raise FactsError(str(error), 1 if options.source is None else 2) from None


def _write(pages: "Sequence[Page]", options: argparse.Namespace, seen: "Survey | None") -> int:
    from lockgate.cli.render import explain
    from lockgate.cli.render.json import render_json

    match options.output:
        case "json":
            text = render_json(explain.as_document(pages, seen))
        case "markdown":
            text = explain.as_markdown(pages, seen)
        case _:
            text = explain.as_text(pages, _MOST, seen) if options.asked else explain.listing(pages)
    sys.stdout.write(text)
    return 0
