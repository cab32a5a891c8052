"""`fit`: whether pods fit, where, what blocks each node, and the smallest changes that make room. It only looks."""

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lockgate.cli.sources import FactsError, add_source_arguments, complain, read_facts

if TYPE_CHECKING:
    from lockgate.collect.manifest import Asked
    from lockgate.model.facts import Snapshot

DESCRIPTION = "Say whether pods fit now and where; if not, what blocks each GPU node and which changes make room."
EXAMPLES = """examples:
  {prog} fit --gpus 4
  {prog} fit --gpus 1 --copies 8 --memory 40Gi
  {prog} fit --mig 2g.10gb
  {prog} fit -f job.yaml --from bundle.tgz

With --gpus or --mig it is a pod that tolerates taints of nvidia.com/gpu and asks for nothing else.

exit codes: 0 fits, 1 the tool or the cluster failed, 2 bad usage or input, 3 does not fit, or is refused,
            4 fits as far as is known, or not on what was read: something that decides is not known
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is asked for."""
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("-f", "--filename", metavar="FILE", help="a pod or workload as YAML or JSON")
    asked.add_argument("--gpus", type=_count, metavar="N", help="GPUs a copy")
    asked.add_argument("--mig", metavar="PROFILE", help="one MIG device of this profile a copy, for example 2g.10gb")
    parser.add_argument("--copies", type=_count, metavar="N", help="how many (default 1, or the file's replicas)")
    parser.add_argument("--memory", metavar="SIZE", help="memory that each GPU must have, for example 40Gi")
    parser.add_argument(
        "--tolerate", action="append", default=[], metavar="KEY", help="a taint that the pod tolerates; may be repeated"
    )
    parser.add_argument("-n", "--namespace", default="default", help="the pod's namespace")
    parser.add_argument("-o", "--output", choices=("text", "json"), default="text", help="text (default) or json")
    add_source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read, place, render; returns the exit code."""
    from lockgate.capacity.by_claims import by_claims
    from lockgate.capacity.fit import Verdict, at_most, fit, with_left_out, with_open
    from lockgate.capacity.known_part import could_refuse, could_take, holders_unread, is_bound
    from lockgate.capacity.overview import UnreadableError, known_scene, left_members
    from lockgate.cli.render import fit as render
    from lockgate.model.facts import Missing

    try:
        asked = _asked(options)
        snapshot = read_facts(options, to_place=True)
        served = by_claims(asked.pod, known_scene(snapshot), snapshot)
        whole = not isinstance(snapshot.pods, Missing)
        answer = fit(asked.pod, served.scene, options.copies or asked.copies, all_pods=whole)
    except FactsError as error:
        return complain(str(error), error.code)
    except UnreadableError as error:
        return complain(str(error), 1 if options.source is None else 2)
    if is_bound(served.scene, snapshot):
        answer = at_most(answer)
    if answer.fits:
        against = could_refuse(asked.pod, snapshot)
        answer = with_open(answer, against, holders_unread(served.scene, answer.where, snapshot))
    elif not answer.refused:
        answer = with_open(answer, (), (*served.unread, *could_take(asked.pod, snapshot)))
    answer = with_open(answer, served.undecided, ())
    missing = _without_namespace(snapshot, asked.pod.namespace)
    answer = with_left_out(answer, (*missing, *left_members(snapshot), *_unasked(asked, options)))
    sys.stdout.write(render.as_json(answer) if options.output == "json" else render.as_text(answer))
    return {Verdict.FITS: 0, Verdict.AS_FAR_AS_KNOWN: 4, Verdict.UNKNOWN: 4}.get(answer.verdict, 3)


def _asked(options: argparse.Namespace) -> "Asked":
    """The pod that is asked about and the copies that its file wants."""
    from lockgate.capacity.ask import asking, tolerating
    from lockgate.collect.errors import InputError
    from lockgate.collect.manifest import Asked, read_manifest

    try:
        if options.filename:
            asked = read_manifest(options.filename, sys.stdin.buffer, options.namespace)
        else:
            gpus, mig, memory = options.gpus or 0, options.mig or "", options.memory or ""
            asked = Asked(name="", pod=asking(options.namespace, gpus=gpus, mig=mig, memory=memory))
    except (InputError, ValueError) as error:
        raise FactsError(str(error), 2) from None
    return asked.with_pod(tolerating(asked.pod, options.tolerate))


def _without_namespace(snapshot: "Snapshot", namespace: str) -> Iterator[str]:
    """Where the pod's namespace is known not to be there: the pod may be thought of before its namespace is made."""
    from lockgate.diagnosis.pods_asked import check_namespace
    from lockgate.diagnosis.target import TargetMissingError, UnreadTargetError

    try:
        check_namespace(snapshot, namespace)
    except UnreadTargetError:
        return
    except TargetMissingError as error:
        yield f"the pod's namespace: {error}"


def _unasked(asked: "Asked", options: argparse.Namespace) -> Iterator[str]:
    """What the file holds and the answer is not about."""
    if asked.others:
        yield f"of {options.filename}, {', '.join(asked.others)}: only {asked.name} was asked about"
    if asked.counted and not options.copies:
        yield asked.counted


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f'"{text}" is no count (expected a whole number from 1)')
    return int(text)
