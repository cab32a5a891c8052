"""`what-if`: capacity before and after some actions, who would move, who would wait. Nothing is changed."""

import argparse
import sys
from typing import TYPE_CHECKING

from lockgate.cli.scoping import add_namespace_arguments, namespace_wanted
from lockgate.cli.sources import FactsError, add_source_arguments, complain, read_facts

if TYPE_CHECKING:
    from lockgate.capacity.actions import LoseGpus, MigConfig, Replicas

DESCRIPTION = "Think actions through, in the order given: capacity before and after, who moves, who waits. Only looks."
EXAMPLES = """examples:
  {prog} what-if --drain gpu-1
  {prog} what-if --cordon gpu-1 --add-node NVIDIA-A100-SXM4-40GB
  {prog} what-if --drain gpu-1 -n ml              which pods of ml it touches
  {prog} what-if --replicas gpu-2=4
  {prog} what-if --mig-config gpu-3=all-2g.10gb --lose-gpu gpu-4:1 --from bundle.tgz

exit codes: 0 everybody finds a place, 1 the tool or the cluster failed, 2 bad usage or input,
            3 pods would wait, be lost, or may not leave, 4 of some it is not known
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """One flag an action; all may be repeated and combined."""
    from lockgate.capacity.actions import AddNode, Cordon, Drain, Uncordon

    actions = parser.add_argument_group("actions, in the order given")

    def action(flag: str, kind: object, metavar: str, text: str) -> None:
        actions.add_argument(flag, dest="actions", action="append", type=kind, metavar=metavar, help=text)  # type: ignore[arg-type]

    action("--cordon", Cordon, "NODE", "no new pods come to the node")
    action("--uncordon", Uncordon, "NODE", "new pods may come again")
    action("--drain", Drain, "NODE", "cordon, and evict what may be evicted")
    action("--replicas", _replicas, "NODE=N", "time-slicing with N slots a GPU")
    action("--mig-config", _mig_config, "NODE=CONFIG", "another MIG configuration, for example all-2g.10gb")
    action("--lose-gpu", _lose_gpus, "NODE:N", "N GPUs of the node become unhealthy")
    action("--add-node", AddNode, "PRODUCT", "one more node like those with this nvidia.com/gpu.product")
    add_namespace_arguments(parser, "pods")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="text (default) or json")
    add_source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read, think through, render; returns the exit code."""
    from lockgate.capacity.actions import ActionError
    from lockgate.capacity.overview import UnreadableError, all_pods, scene_of
    from lockgate.capacity.what_if import of_namespace, what_if
    from lockgate.capacity.what_if_open import with_open
    from lockgate.cli.render import what_if as render

    if not options.actions:
        return complain("what-if: give an action, for example --drain NODE (see --help)", 2)
    try:
        snapshot = read_facts(options, to_place=True)
        namespace = namespace_wanted(options, snapshot)
        scene = scene_of(snapshot)
        outcome = what_if(options.actions, scene, all_pods(snapshot))
        outcome = with_open(outcome, options.actions, scene, snapshot)
    except FactsError as error:
        return complain(str(error), error.code)
    except ActionError as error:
        return complain(str(error), 2)
    except UnreadableError as error:
        return complain(str(error), 1 if options.source is None else 2)
    shown = of_namespace(outcome, namespace)
    sys.stdout.write(render.as_json(shown) if options.output == "json" else render.as_text(shown))
    if outcome.waiting or outcome.lost or outcome.kept:
        return 3
    return 4 if outcome.unknown or outcome.undecided else 0


def _replicas(text: str) -> "Replicas":
    from lockgate.capacity.actions import Replicas

    node, count = _pair(text, "=", "NODE=N, for example gpu-1=4")
    return Replicas(node, _number(count))


def _mig_config(text: str) -> "MigConfig":
    from lockgate.capacity.actions import MigConfig

    return MigConfig(*_pair(text, "=", "NODE=CONFIG, for example gpu-1=all-2g.10gb"))


def _lose_gpus(text: str) -> "LoseGpus":
    from lockgate.capacity.actions import LoseGpus

    node, _, count = text.partition(":")
    return LoseGpus(node, _number(count or "1"))


def _pair(text: str, mark: str, expected: str) -> tuple[str, str]:
    left, _, right = text.partition(mark)
    if not left or not right:
        raise argparse.ArgumentTypeError(f'"{text}" is not {expected}')
    return left, right


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f'"{text}" is no count (expected a whole number from 1)')
    return int(text)
