"""What `smoke` will do, before it does anything: the pods to make, the nodes to leave alone and why, in words too."""

from collections.abc import Sequence
from typing import Final

import msgspec

from lockgate.cli.home import place
from lockgate.cli.short_pods import Image, Place, resource_of
from lockgate.diagnosis.operand_names import short_name
from lockgate.diagnosis.probe import gate_of, probe
from lockgate.diagnosis.seen import holders
from lockgate.diagnosis.views.places import Places
from lockgate.kit.counted import counted
from lockgate.model import names
from lockgate.model.facts import Missing, RuntimeClasses, Snapshot
from lockgate.model.finding import Diagnosis
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import DaemonSet, Node
from lockgate.scheduling.requests import amounts

# The operand whose image is asked to run nvidia-smi: on every GPU node already, and with a C library.
_IMAGE_OF: Final = ("operator-validator", "device-plugin", "container-toolkit")


class Planned(msgspec.Struct, frozen=True):
    """One pod to make."""

    place: Place
    resource: str


class Result(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What came of one node: passed, failed at `gate` (gate 1, gate 2, program), or skipped for a reason.

    Of a dry run: planned, or skipped.
    """

    node: str
    result: str
    gate: str = ""
    text: str = ""
    devices: tuple[str, ...] = ()
    seconds: float = 0.0
    diagnosis: Diagnosis | None = None


class SmokeError(Exception):
    """Nothing can be tried; the text is for a person."""


class UnreadError(SmokeError):
    """Whether anything can be tried is not known, since the cluster did not let it be read."""


def plan(
    snapshot: Snapshot, wanted: Sequence[str], namespace: str, mark: str
) -> tuple[tuple[Planned, ...], tuple[Result, ...]]:
    """The pods to make, and the nodes that are left alone with the reason; raises SmokeError where no node is known.

    Without names: every GPU node that is ready and not cordoned. A node whose devices are all held is not tried, since
    the pod would only wait, or push out one of lower priority.
    """
    nodes = known_nodes(snapshot)
    by_name = {node.name: node for node in nodes}
    for name in wanted:
        if name not in by_name:
            raise SmokeError(f"node {name} is not there (there is: {', '.join(sorted(by_name)) or 'none'})")
    chosen = [by_name[n] for n in wanted] or sorted((n for n in nodes if is_gpu_node(n)), key=lambda n: n.name)
    if not chosen:
        raise SmokeError("no node is known to have a GPU; --node NAME tries one all the same")
    places, classes = Places(nodes, snapshot.pods), snapshot.runtime_classes
    left = {n.name: reason for n in chosen if (reason := _left_alone(n, places, classes, named=bool(wanted)))}
    planned = tuple(_planned(node, namespace, mark) for node in chosen if node.name not in left)
    return planned, tuple(Result(node=name, result="skipped", text=reason) for name, reason in left.items())


def known_nodes(snapshot: Snapshot) -> tuple[Node, ...]:
    """The nodes; raises UnreadError where they could not be read."""
    if isinstance(snapshot.nodes, Missing):
        raise UnreadError(f"nodes are not known: {snapshot.nodes.text}")
    return snapshot.nodes


def _planned(node: Node, namespace: str, mark: str) -> Planned:
    return Planned(place(namespace, "smoke", mark, node.name), resource_of(dict(amounts(node.status.allocatable))))


def _left_alone(node: Node, places: Places, classes: RuntimeClasses | Missing, *, named: bool) -> str:
    ready = next((c.status for c in node.status.conditions if c.type == "Ready"), "True")
    if ready != "True":
        return "the node is not ready"
    if node.spec.unschedulable and not named:
        return "the node is cordoned; --node tries it all the same"
    if isinstance(places.pods, Missing):
        return ""
    gate = gate_of(probe(node, classes), node, places)
    full = [row for row in gate.rows if row.known and row.allocatable and row.headroom == 0 and not row.obstacles]
    return f"no {gate.resource} is free{holders(full[0])}" if full else ""


def home(snapshot: Snapshot) -> DaemonSet | None:
    """The operand whose image and namespace are used, None where no operator is installed or that is not known."""
    sets = () if isinstance(snapshot.daemon_sets, Missing) else snapshot.daemon_sets
    by_operand = {short_name(ds): ds for ds in sets}
    return next((by_operand[name] for name in _IMAGE_OF if name in by_operand), None)


def would(each: Planned, image: Image) -> Result:
    """What a run would do on a node."""
    at = each.place
    text = f"pod {at.namespace}/{at.name} asks for 1 {each.resource}, runs `nvidia-smi -L` in {image.name}"
    return Result(node=at.node, result="planned", text=text)


def said_before(planned: Sequence[Planned], image: Image) -> str:
    """What will be made, in a sentence."""
    nodes = ", ".join(p.place.node for p in planned[:6]) + (f" and {len(planned) - 6} more" if planned[6:] else "")
    resources = ", ".join(sorted({p.resource for p in planned}) or [names.GPU])
    return (
        f"makes {counted(len(planned), 'pod')} in namespace {planned[0].place.namespace} "
        f"({planned[0].place.name}, ...), on {nodes}: each asks for 1 {resources}, runs `nvidia-smi -L` in "
        f"{image.name}, and is removed again"
    )
