"""`why [TARGET]`: why a pod, workload, node or operand does not work; without one, what is wrong in the cluster."""

import argparse
import sys
from typing import TYPE_CHECKING

from lockgate.cli.sources import access_of, add_cluster_arguments, add_from_argument, complain
from lockgate.cli.waivers import add_waiver_arguments, waivers_today

if TYPE_CHECKING:
    from lockgate.diagnosis.target import Target
    from lockgate.model.facts import Snapshot
    from lockgate.model.finding import Diagnosis

DESCRIPTION = (
    "Say why a GPU pod or workload does not run: the cause with its evidence, what was ruled out, what to do. "
    "Without a target: what is wrong in the cluster now, worst first."
)
EXAMPLES = """examples:
  {prog} why pod/train -n ml
  {prog} why deploy/infer -o json
  {prog} why node/gpu-7                           both gates of one node
  {prog} why operand/device-plugin                why an operand does not run where it should
  {prog} why pytorchjob/llm                       any owner of pods, through whatever it owns
  {prog} why namespace/ml                         what is wrong in one namespace
  {prog} why -l app=train -A                      the pods with a label
  {prog} why                                      what is wrong in this cluster, worst first
  {prog} why -o html > report.html                one file, to be sent on
  {prog} why pod/train --watch                    until it runs: which gate it passes, and when
  {prog} why pod/train --from bundle.tgz          an archive or folder that someone sent
  kubectl describe pod train | {prog} why -       a terminal's text; also a manifest, JSON
  kubectl get events -n ml | {prog} why train -n ml --from -

exit codes: 0 nothing wrong, 1 the tool or the cluster failed, 2 bad usage or input,
            3 a finding of severity error or blocker, 4 only warnings, or something decisive not checked
"""


class ClusterError(Exception):
    """The cluster, or the way to it, failed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """kubectl's flags, by kubectl's names."""
    parser.add_argument(
        "target",
        metavar="TARGET",
        nargs="?",
        default="",
        help="pod/NAME, deploy/, rs/, sts/, ds/, job/, cronjob/, any other owner's KIND/, namespace/, node/ or "
        "operand/NAME; a bare name is a pod; none: the cluster; -: what stands on standard input",
    )
    parser.add_argument(
        "-n", "--namespace", default="", help="the target's namespace; without one: what is wrong in it"
    )
    parser.add_argument("-A", "--all-namespaces", action="store_true", help="with -l: pods of all namespaces")
    parser.add_argument("-l", "--selector", default="", metavar="LABELS", help="the pods with these labels: app=train")
    add_from_argument(parser)
    parser.add_argument(
        "-o",
        "--output",
        choices=("text", "json", "markdown", "html"),
        default="text",
        help="text (default); html is one file",
    )
    parser.add_argument("--no-color", action="store_true", help="plain text; so does the environment variable NO_COLOR")
    parser.add_argument(
        "-w", "--watch", action="store_true", help="follow a pod until it runs: which gate it passes, and when"
    )
    add_waiver_arguments(parser)
    add_cluster_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Collect, diagnose, render; returns the exit code."""
    from lockgate.collect.errors import InputError
    from lockgate.diagnosis.target import TargetError, TargetMissingError, UnreadTargetError
    from lockgate.model.label_query import LabelQueryError

    try:
        if options.target == "-":
            options.target, options.source = "", options.source or "-"
        target = _selected(options) if options.selector else _asked(options)
        if options.watch:
            return _watch(options, target)
        diagnosis = _diagnose(options, target)
    except UnreadTargetError as error:
        return complain(str(error), 1 if options.source is None else 2)
    except (InputError, LabelQueryError, TargetError, TargetMissingError) as error:
        return complain(str(error), 2)
    except ClusterError as error:
        return complain(str(error), 1)
    except (RecursionError, MemoryError) as error:
        return complain(
            f"{options.source or 'the cluster'}: needs more memory than there is ({type(error).__name__})", 2
        )
    _render(diagnosis, options)
    return int(diagnosis.exit_code)


def _asked(options: argparse.Namespace) -> "Target":
    """The target that is named; without one the namespace that is, of a cluster."""
    from lockgate.diagnosis.target import CLUSTER, Target, parse_target

    target = parse_target(options.target, options.namespace)
    if target.kind == CLUSTER and options.source is None and (namespace := _namespace(options)):
        return Target("Namespace", namespace)
    return target


def _namespace(options: argparse.Namespace) -> str:
    """The namespace that is named, unless all are meant."""
    return "" if options.all_namespaces else str(options.namespace)


def _selected(options: argparse.Namespace) -> "Target":
    """The pods that `-l` names: of one namespace, of all with -A; of files also where no namespace is named."""
    from lockgate.collect.live import namespace_of
    from lockgate.diagnosis.target import SELECTED, Target, TargetError
    from lockgate.kube.errors import Unreachable
    from lockgate.model.label_query import parse_query

    if options.target:
        raise TargetError(f'"{options.target}" and -l: give one of them')
    parse_query(options.selector)
    namespace = _namespace(options)
    if not namespace and not options.all_namespaces and options.source is None:
        try:
            namespace = namespace_of(access_of(options))
        except Unreachable as error:
            raise ClusterError(str(error)) from None
    return Target(SELECTED, options.selector, namespace)


def _watch(options: argparse.Namespace, target: "Target") -> int:
    from lockgate.cli.watching import watch

    return watch(options, target)


def _diagnose(options: argparse.Namespace, target: "Target") -> "Diagnosis":
    import datetime as dt

    import msgspec

    from lockgate import __version__
    from lockgate.diagnosis.engine import diagnose
    from lockgate.model.finding import Source, Tool
    from lockgate.rules import all_rules

    waivers = waivers_today(options)
    snapshot, source = _facts(options, target)
    target = _meant(target, snapshot, source[1], _namespace(options))
    diagnosis = diagnose(snapshot, target, all_rules(), waivers)
    return msgspec.structs.replace(
        diagnosis,
        generated_at=dt.datetime.now(dt.UTC).replace(microsecond=0),
        tool=Tool(version=__version__),
        source=Source(kind=source[0], name=source[1], taken_at=snapshot.taken_at),
    )


def _meant(target: "Target", snapshot: "Snapshot", source: str, namespace: str) -> "Target":
    """What is asked about where nobody named it: a namespace; where the facts are no cluster, all that they tell of."""
    from lockgate.diagnosis.target import CLUSTER, TOLD, Target, alone
    from lockgate.model.facts import Missing

    if target.kind != CLUSTER:
        return target
    if not isinstance(snapshot.nodes, Missing):
        return Target("Namespace", namespace) if namespace else target
    there = alone(snapshot, namespace)
    if len(there) == 1:
        return there[0]
    whole = not isinstance(snapshot.pods, Missing) and not namespace
    return target if whole or not there else Target(TOLD, "standard input" if source == "-" else source, namespace)


def _facts(options: argparse.Namespace, target: "Target") -> tuple["Snapshot", tuple[str, str]]:
    if options.source is None:
        return _live(options, target), ("live", options.context or "")
    from lockgate.collect.offline import from_path

    pod = target.name if target.kind == "Pod" else ""
    return from_path(options.source, sys.stdin.buffer, target.namespace, pod), ("files", options.source)


def _live(options: argparse.Namespace, target: "Target") -> "Snapshot":
    from lockgate.collect.live import from_cluster
    from lockgate.collect.wide import from_cluster_wide
    from lockgate.diagnosis.target import CLUSTER, SELECTED, WIDE
    from lockgate.kube.errors import ApiError, Unreachable

    access = access_of(options)
    try:
        if target.kind == SELECTED:
            return from_cluster_wide(access, "Namespace" if target.namespace else CLUSTER, target.namespace)
        if target.kind in WIDE:
            return from_cluster_wide(access, target.kind, target.name)
        return from_cluster(access, target.kind, target.name, target.namespace)
    except (ApiError, Unreachable) as error:
        raise ClusterError(str(error)) from None


def _render(diagnosis: "Diagnosis", options: argparse.Namespace) -> None:
    match options.output:
        case "json":
            from lockgate.cli.render.json import render_json

            sys.stdout.write(render_json(diagnosis))
        case "markdown":
            from lockgate.cli.render.markdown import render_markdown

            sys.stdout.write(render_markdown(diagnosis))
        case "html":
            from lockgate.cli.render.html import render_why

            sys.stdout.write(render_why(diagnosis))
        case _:
            from lockgate.cli.render.text import print_text

            print_text(diagnosis, no_color=options.no_color)
