"""`smoke [--node N]`: runs `nvidia-smi -L` in a short-lived pod on each GPU node, and removes it again."""

import argparse
import sys
from typing import TYPE_CHECKING

from lockgate.cli.render.lines import wrap
from lockgate.cli.scoping import add_selector_argument, nodes_wanted
from lockgate.cli.sources import FactsError, access_of, add_cluster_arguments, complain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lockgate.cli.short_pods import Image
    from lockgate.cli.smoke_plan import Planned, Result
    from lockgate.model.facts import Snapshot

DESCRIPTION = (
    "Prove on each GPU node that an ordinary pod gets its GPU: a short-lived pod asks for one and runs "
    "`nvidia-smi -L`. It says before what it makes, names the gate that fails with its cause, and removes every pod, "
    "also when interrupted."
)
EXAMPLES = """examples:
  {prog} smoke
  {prog} smoke --node gpu-7
  {prog} smoke -l pool=a100                       the GPU nodes of one pool
  {prog} smoke --dry-run                          what would be tried where; pods as YAML
  {prog} smoke -n default --image docker.io/library/debian:12

exit codes: 0 every node passed, 1 the tool or the cluster failed, 2 bad usage or input, 3 a node failed,
            4 none failed and some were not tried, 130 interrupted (what was made is removed)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which nodes, what runs there, and which cluster."""
    parser.add_argument("--node", action="append", default=[], metavar="NAME", help="only this node; may be repeated")
    add_selector_argument(parser, "GPU nodes with these labels")
    parser.add_argument("-n", "--namespace", default="", help="where the pods are made (default: the operator's)")
    parser.add_argument("--image", default="", help="one with a C library (default: that of the installed operator)")
    parser.add_argument("--timeout", default="60s", metavar="DURATION", help="for each node (default 60s)")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="say what would be tried on each node and why not, print the pods, make nothing",
    )
    parser.add_argument("-o", "--output", choices=("text", "json", "markdown"), default="text", help="text (default)")
    parser.add_argument("--no-color", action="store_true", help="plain text; so does the environment variable NO_COLOR")
    add_cluster_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Look, say, make, wait, judge, remove; returns the exit code."""
    from lockgate.cli.smoke_plan import SmokeError, UnreadError
    from lockgate.collect.errors import InputError
    from lockgate.kube.errors import ApiError, Unreachable

    try:
        return _run(options)
    except FactsError as error:
        return complain(f"smoke: {error}", error.code)
    except (UnreadError, ApiError, Unreachable) as error:
        return complain(f"smoke: {error}", 1)
    except (SmokeError, InputError) as error:
        return complain(f"smoke: {error}", 2)


def _run(options: argparse.Namespace) -> int:
    from lockgate.capacity.narrowed import of_nodes
    from lockgate.cli import interruptible, smoke_plan, smoking
    from lockgate.cli.home import mark
    from lockgate.collect.live import parse_timeout
    from lockgate.collect.wide import from_cluster_wide

    seconds = parse_timeout(options.timeout)
    access = access_of(options)
    snapshot = from_cluster_wide(access, "Operand", "")
    smoke_plan.known_nodes(snapshot)
    image, namespace = _home(options, snapshot)
    snapshot = of_nodes(snapshot, nodes_wanted(options, snapshot))
    planned, skipped = smoke_plan.plan(snapshot, options.node, namespace, mark())
    if options.dry_run:
        return _dry(planned, skipped, image, options)
    if planned:
        _tell(smoke_plan.said_before(planned, image))
    made = interruptible.run(smoking.smoke(access, planned, image, seconds, _tell)) if planned else ()
    results = sorted((*made, *skipped), key=lambda r: r.node)
    _show(results, options)
    failed = any(r.result == "failed" for r in results)
    return 3 if failed else 4 if skipped else 0


def _home(options: argparse.Namespace, snapshot: "Snapshot") -> "tuple[Image, str]":
    """The image and the namespace: as given, else those of the installed operator."""
    from lockgate.cli import smoke_plan
    from lockgate.cli.home import image_of
    from lockgate.cli.short_pods import Image
    from lockgate.model.facts import Missing

    operand = smoke_plan.home(snapshot)
    namespace = options.namespace or (operand.namespace if operand else "default")
    if options.image:
        return Image(options.image), namespace
    if operand is None and isinstance(snapshot.daemon_sets, Missing):
        unread = f"DaemonSets are not known: {snapshot.daemon_sets.text}"
        raise smoke_plan.UnreadError(f"no image to use, since {unread}; or give --image IMAGE")
    if operand is None:
        raise smoke_plan.SmokeError("no operator is installed whose image could be used; give --image IMAGE")
    return image_of(access_of(options), operand), namespace


def _dry(planned: "Sequence[Planned]", skipped: "Sequence[Result]", image: "Image", options: argparse.Namespace) -> int:
    """A word on every node; as text with the pods, as YAML that can be applied."""
    from lockgate.cli.smoke_plan import would

    told = sorted((*(would(each, image) for each in planned), *skipped), key=lambda r: r.node)
    if options.output == "text":
        sys.stdout.writelines(f"# {each.result:<8} {each.node}  {each.text}\n" for each in told)
        _pods(planned, image)
    else:
        _show(told, options)
    return 4 if skipped else 0


def _pods(planned: "Sequence[Planned]", image: "Image") -> None:
    import yaml

    from lockgate.cli.short_pods import smoke_pod

    if planned:
        pods = [smoke_pod(p.place, image, p.resource) for p in planned]
        sys.stdout.write(yaml.safe_dump_all(pods, sort_keys=False))


def _show(results: "Sequence[Result]", options: argparse.Namespace) -> None:
    from lockgate.cli.render import smoke
    from lockgate.cli.render.json import render_json
    from lockgate.cli.render.text import paint_for
    from lockgate.cli.smoking import as_dict

    match options.output:
        case "json":
            sys.stdout.write(render_json(as_dict(results)))
        case "markdown":
            sys.stdout.write(smoke.as_markdown(results))
        case _:
            paint = paint_for(sys.stdout, no_color=options.no_color)
            sys.stdout.writelines(f"{line}\n" for line in smoke.as_text(results, paint))


def _tell(line: str) -> None:
    sys.stderr.write("\n".join(wrap(f"lockgate smoke: {line}", 0)) + "\n")
