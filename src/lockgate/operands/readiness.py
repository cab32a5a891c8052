"""Whether an operand runs on every node that should have it, and if not, where and why.

A DaemonSet that no node wants reports "0 of 0 ready"; NVIDIA's operator calls that ready. Here it is said, with the
label or taint that keeps each node away.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from lockgate.kit.counted import counted
from lockgate.model import names
from lockgate.model.objects import Condition, DaemonSet, Node
from lockgate.operands.labels import is_gpu_node
from lockgate.operands.operand import Operand
from lockgate.scheduling.daemonsets import target
from lockgate.scheduling.taints import taint_text

NAMED: Final = 3  # nodes named in a message
Standing = Literal["wanted", "blocked", "paused", "left out", "unlabelled"]


@dataclass(frozen=True, slots=True)
class Seat:
    """What a DaemonSet should be on one GPU node, and why not when it should not."""

    node: str
    standing: Standing
    why: str = ""


def seats(daemonset: DaemonSet, nodes: Iterable[Node]) -> tuple[Seat, ...]:
    """The standing of every GPU node, by the label that selects the operand and by the node's taints."""
    selector = daemonset.spec.template.spec.node_selector
    label = next((key for key in selector if key.startswith(names.DEPLOY_PREFIX)), "")
    return tuple(_seat(daemonset, node, label) for node in nodes if is_gpu_node(node.metadata.labels))


def _seat(daemonset: DaemonSet, node: Node, label: str) -> Seat:
    labels = node.metadata.labels
    value = labels.get(label)
    if labels.get(names.DEPLOY_OPERANDS) == "false":
        return Seat(node.name, "left out", f"{names.DEPLOY_OPERANDS}=false")
    if value is None:
        return Seat(node.name, "unlabelled", f"label {label} is not set yet")
    if names.PAUSED_FOR_DRIVER in value or names.PAUSED_FOR_MIG in value:
        return Seat(node.name, "paused", f"{label}={value}")
    if value != "true":
        return Seat(node.name, "left out", f"{label}={value}")
    found = target(daemonset, node)
    if found.taints:
        return Seat(node.name, "blocked", "untolerated taint " + ", ".join(map(taint_text, found.taints)))
    if found.misses:
        return Seat(node.name, "blocked", f"label {found.misses[0].wanted} wanted, it has {found.misses[0].seen}")
    return Seat(node.name, "wanted")


def judge(
    operand: Operand, daemonset: DaemonSet | None, nodes: Sequence[Node], troubles: Mapping[str, str]
) -> Condition:
    """The condition of an operand. `troubles` says per node what its pod waits for, where that is known."""
    if daemonset is None:
        return _condition(operand, False, "NotCreated", f"DaemonSet {operand.daemonset} does not exist yet")
    places = seats(daemonset, nodes)
    away = [seat for seat in places if seat.standing in ("blocked", "unlabelled")]
    wanted = [seat for seat in places if seat.standing == "wanted"]
    if not wanted:
        return _nobody(operand, places)
    if away:
        of_all = f"{len(away)} of {len(places)} GPU nodes"
        text = f"DaemonSet {operand.daemonset} is kept from {of_all}: {_named(away)}"
        return _condition(operand, False, "Blocked", text)
    if lacking := _lacking(daemonset, len(wanted), troubles):
        return _condition(operand, False, "Progressing", f"DaemonSet {operand.daemonset}: {lacking}")
    rest = [seat for seat in places if seat.standing in ("paused", "left out")]
    note = f"; not on {_named(rest)}" if rest else ""
    return _condition(operand, True, "Running", f"runs on {len(wanted)} of {len(wanted)} nodes{note}")


def _nobody(operand: Operand, places: Sequence[Seat]) -> Condition:
    """DESIRED 0."""
    if not places:
        text = f"DaemonSet {operand.daemonset} wants 0 nodes: no node has an NVIDIA GPU ({names.PCI_PRESENT[0]}=true)"
        return _condition(operand, False, "NoGPUNodes", text)
    reason = "Blocked" if any(seat.standing == "blocked" for seat in places) else "NoNodes"
    text = f"DaemonSet {operand.daemonset} wants 0 of {len(places)} GPU nodes: {_named(places)}"
    return _condition(operand, False, reason, text)


def _lacking(daemonset: DaemonSet, wanted: int, troubles: Mapping[str, str]) -> str:
    """What the DaemonSet's status still lacks; empty when all its pods run what was asked last."""
    status = daemonset.status
    if status.observed_generation < daemonset.metadata.generation:
        return "its controller has not seen the latest version yet"
    if status.desired_number_scheduled != wanted:
        return f"DESIRED is {status.desired_number_scheduled}, {counted(wanted, 'node')} should have it"
    ready = min(status.updated_number_scheduled, status.number_available, status.number_ready)
    if ready >= wanted:
        return ""
    details = "; ".join(f"{node}: {why}" for node, why in sorted(troubles.items())[:NAMED])
    return f"ready on {ready} of {wanted} nodes" + (f" ({details})" if details else "")


def _named(places: Sequence[Seat]) -> str:
    shown = "; ".join(f"{seat.node}: {seat.why}" for seat in places[:NAMED])
    return shown + (f"; and {len(places) - NAMED} more" if len(places) > NAMED else "")


def _condition(operand: Operand, holds: bool, reason: str, message: str) -> Condition:
    return Condition(type=operand.condition, status="True" if holds else "False", reason=reason, message=message)
