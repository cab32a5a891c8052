"""`collect -o FILE`: the facts of the live cluster in one file for `--from`, without secrets. It only looks."""

import argparse
import sys
from typing import TYPE_CHECKING

from lockgate.cli.render.lines import wrap
from lockgate.cli.sources import access_of, add_cluster_arguments, complain

if TYPE_CHECKING:
    from lockgate.cli.short_pods import Image
    from lockgate.collect.bundle_manifest import BundleManifest
    from lockgate.collect.gather import Gathering
    from lockgate.model.facts import Snapshot

DESCRIPTION = (
    "Collect what `why`, `survey` and `capacity` need into one file, to be read with --from elsewhere. Secrets and "
    "ConfigMaps are never read; values of variables, tokens, keys and certificates are taken out."
)
EXAMPLES = """examples:
  {prog} collect -o bundle.tgz
  {prog} collect -o bundle.tgz --redact-addresses
  {prog} collect -o bundle.tgz -n ml              of other namespaces no logs and no events
  {prog} collect -o bundle.tgz -l app=train       the same by labels of pods
  {prog} collect -o bundle.tgz --probe gpu-7      also a node's files, by a short-lived pod
  {prog} why pod/train --from bundle.tgz

exit codes: 0 written, 1 the tool or the cluster failed, 2 bad usage or input, 4 written, with parts that could not be
            read or did not fit (its manifest.json says which), 130 interrupted: what was there is written
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to, how much, and which cluster."""
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the bundle to write (.tgz)")
    parser.add_argument(
        "--max-size", metavar="QUANTITY", default="256Mi", help="bound on what goes in, unpacked (default 256Mi)"
    )
    which = parser.add_argument_group("whose pods (what the arithmetic needs is gathered whole all the same)")
    which.add_argument("-n", "--namespace", default="", help="only logs and events of pods of this namespace")
    which.add_argument("-A", "--all-namespaces", action="store_true", help="all namespaces (default), also beside -n")
    which.add_argument("-l", "--selector", default="", metavar="LABELS", help="only those of pods like app=train")
    parser.add_argument("--redact-addresses", action="store_true", help="take IP addresses out as well")
    probes = parser.add_argument_group("files of nodes (opt-in: makes short-lived pods, and says so before)")
    probes.add_argument(
        "--probe", action="append", default=[], metavar="NODE", help='read this node\'s files too; "all": GPU nodes'
    )
    probes.add_argument("--probe-image", default="", metavar="IMAGE", help="default: that of the installed Lockgate")
    probes.add_argument("--probe-namespace", default="", metavar="NAME", help="default: that of the installed Lockgate")
    probes.add_argument("--probe-timeout", default="60s", metavar="DURATION", help="for each node (default 60s)")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    add_cluster_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Gather into a file; returns the exit code."""
    import datetime as dt
    from pathlib import Path

    from lockgate.cli.progress import telling
    from lockgate.collect.bundle_file import BundleFile
    from lockgate.collect.errors import InputError
    from lockgate.collect.gather import SECTIONS, Gathering
    from lockgate.collect.redaction import Redactor
    from lockgate.kit.quantity import parse_quantity
    from lockgate.kube.errors import ApiError, Unreachable
    from lockgate.model.label_query import LabelQueryError
    from lockgate.model.narrowing import Narrowing

    try:
        limit = int(parse_quantity(options.max_size))
        narrowing = Narrowing(namespace="" if options.all_namespaces else options.namespace, selector=options.selector)
    except LabelQueryError as error:
        return complain(str(error), 2)
    except ValueError:
        return complain(f'--max-size "{options.max_size}" is no quantity: expected for example 100Mi', 2)
    if not narrowing.is_whole and not options.quiet:
        _tell(f"logs and events: only of {narrowing.text}, of operands and of nodes; lists are whole")
    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    try:
        with (
            telling(len(SECTIONS) + 1 + len(options.probe), quiet=options.quiet) as tell,
            BundleFile(Path(options.output), limit, now.timestamp()) as bundle,
        ):
            gathering = Gathering(bundle, Redactor(addresses=options.redact_addresses), tell, now, narrowing)
            interrupted = _gather(gathering, options)
            manifest = gathering.manifest()
            bundle.finish(manifest)
    except InputError as error:
        return complain(str(error), 2)
    except (ApiError, Unreachable) as error:
        return complain(str(error), 1)
    return _said(options.output, manifest, interrupted)


def _gather(gathering: "Gathering", options: argparse.Namespace) -> bool:
    """Whether it was interrupted; what was read until then is kept."""
    try:
        gathering.run(access_of(options))
        if options.probe:
            _probe(gathering, options)
    except KeyboardInterrupt:
        return True
    return False


def _probe(gathering: "Gathering", options: argparse.Namespace) -> None:
    from lockgate.cli import interruptible, probing
    from lockgate.cli.home import mark, place
    from lockgate.collect.live import parse_timeout
    from lockgate.collect.wide import from_cluster_wide

    access, run = access_of(options), mark()
    snapshot = from_cluster_wide(access, "Operand", "")
    image, namespace = _home(options, snapshot)
    nodes = probing.nodes_of(snapshot, options.probe)
    places = [place(namespace, "probe", run, node) for node in nodes]
    if not places:
        return
    _tell(probing.said_before(places, image))
    try:
        found = interruptible.run(probing.probe(access, places, image, parse_timeout(options.probe_timeout), _tell))
    except KeyboardInterrupt:
        for each in places:
            gathering.miss_node(each.node, "interrupted before its files were read")
        raise
    for node, files in found.items():
        if isinstance(files, str):
            gathering.miss_node(node, files)
        else:
            gathering.take_node(node, files)


def _home(options: argparse.Namespace, snapshot: "Snapshot") -> "tuple[Image, str]":
    """The image and the namespace: as given, else those of the installed Lockgate, else the published image."""
    from lockgate import __version__
    from lockgate.cli import probing
    from lockgate.cli.home import image_of
    from lockgate.cli.short_pods import Image
    from lockgate.model.names import IMAGE

    operand = probing.own_operand(snapshot)
    namespace = options.probe_namespace or (operand.namespace if operand else "default")
    if options.probe_image or operand is None:
        return Image(options.probe_image or f"{IMAGE}:{__version__}"), namespace
    return image_of(access_of(options), operand), namespace


def _said(path: str, manifest: "BundleManifest", interrupted: bool) -> int:
    if interrupted:
        lacking = f" (without {', '.join(manifest.lacking)})" if manifest.lacking else ""
        return complain(f"interrupted; {path} holds what was read until then{lacking}", 130)
    sys.stdout.write(f"{path}\n")
    return 4 if manifest.lacking or manifest.left_out else 0


def _tell(line: str) -> None:
    sys.stderr.write("\n".join(wrap(line, 0)) + "\n")
