"""`capacity`: what GPUs there are, what is requested, free, locked, asked for. It only looks."""

import argparse
import sys
from typing import TYPE_CHECKING

from lockgate.cli.scoping import add_namespace_arguments, add_selector_argument, namespace_wanted, nodes_wanted
from lockgate.cli.sources import FactsError, add_source_arguments, complain, read_facts

if TYPE_CHECKING:
    from lockgate.model.facts import Snapshot

DESCRIPTION = "Show GPU capacity as the scheduler counts it: physical, healthy, slots, requested, headroom, locked."
EXAMPLES = """examples:
  {prog} capacity
  {prog} capacity --by product -o markdown
  {prog} capacity -l pool=a100                    the nodes of one pool
  {prog} capacity -n ml                           who of a namespace waits, or holds idle
  {prog} capacity --metrics
  {prog} capacity --watch
  {prog} capacity --from bundle.tgz -o json

exit codes: 0 shown, 1 the tool or the cluster failed, 2 bad usage or input
"""
_GROUPS = ("node", "product", "pool", "namespace")
_FORMATS = ("text", "json", "csv", "markdown", "prometheus")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to group by, and in which form."""
    parser.add_argument(
        "--by",
        choices=("node", "product", "pool", "namespace"),
        default="node",
        help="what the rows are (default node)",
    )
    add_namespace_arguments(parser, "pods that wait, idle holders and rows by namespace")
    add_selector_argument(parser, "nodes with these labels, their totals and their pods")
    parser.add_argument(
        "-o", "--output", choices=_FORMATS, default="text", help=f"text (default), {', '.join(_FORMATS[1:])}"
    )
    parser.add_argument(
        "--watch",
        type=_seconds,
        nargs="?",
        const=5.0,
        metavar="SECONDS",
        help="show again every so often (5 s)",
    )
    parser.add_argument(
        "--metrics", action="store_true", help="ask the exporters which requested devices are idle (get on pods/proxy)"
    )
    add_source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read, add up, render, once or until interrupted; returns the exit code."""
    if options.watch is None:
        return _show(options, "")
    if options.source is not None:
        return complain("capacity: --watch looks at a live cluster, files do not change", 2)
    import time

    clear = "\x1b[H\x1b[2J" if sys.stdout.isatty() else ""
    while (code := _show(options, clear)) == 0:
        sys.stdout.flush()
        time.sleep(options.watch)
    return code


def _show(options: argparse.Namespace, clear: str) -> int:
    from lockgate.capacity.overview import UnreadableError

    try:
        text = _rendered(read_facts(options, metrics=options.metrics), options)
    except FactsError as error:
        return complain(str(error), error.code)
    except UnreadableError as error:
        return complain(str(error), 1 if options.source is None else 2)
    sys.stdout.write(clear + text)
    return 0


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.5 <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f'"{text}" is no interval (expected seconds, from 0.5)')
    return seconds


def _rendered(facts: "Snapshot", options: argparse.Namespace) -> str:
    from lockgate.capacity.narrowed import narrowed, of_nodes
    from lockgate.capacity.overview import measured, overview
    from lockgate.capacity.table import By
    from lockgate.cli.render import capacity, capacity_text

    namespace = namespace_wanted(options, facts)
    facts = of_nodes(facts, nodes_wanted(options, facts))
    if options.output == "prometheus":
        from lockgate.cli.render.prometheus import as_prometheus

        return as_prometheus(measured(facts))
    forms = {
        "json": capacity.as_json,
        "csv": capacity.as_csv,
        "markdown": capacity.as_markdown,
    }
    seen = narrowed(overview(facts, By(options.by)), namespace)
    return capacity_text.as_text(seen, namespace) if options.output == "text" else forms[options.output](seen)
