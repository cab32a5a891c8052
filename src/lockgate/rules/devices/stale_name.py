"""A resource's name stayed behind on the node after its GPUs were partitioned or shared anew.

The device plugin offers the devices under other names now. The kubelet keeps the old name: with its count until the old
endpoint is given up, then at 0, until it is told otherwise.

Why it matters: the scheduler believes the old count, places pods, and the kubelet refuses them; or a pod asks for a
name that nothing serves any more.
How to tell: the old name has capacity and no allocatable beside names that have; or feature discovery labels no count
for it.
Fix: ask for the new name. To be rid of the old one, restart the node's device plugin, then the kubelet.
"""

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.remedies import restart_plugin
from lockgate.diagnosis.rule import Failed, on_each, rule
from lockgate.diagnosis.seen import asked, gate_row, listed
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.devices import Devices
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.places import Places
from lockgate.diagnosis.views.plugin import Plugin
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.requests import amounts

_SHARED = ".shared"


@rule(
    codes=("C12",),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING, Stage.ADMISSION),
    mutes=("kubelet/refused", "devices/unhealthy"),
)
def stale_name(
    pod: Pod, gate_one: GateOne, places: Places, devices: Devices, plugin: Plugin | Missing, stage: Stage
) -> Failed | None:
    known = places.nodes
    rows = [row for row in gate_one.nearest if _is_stale(row, gate_one, known[row.node], devices, stage)]
    return on_each([_failed(pod, gate_one, row, known[row.node], devices, plugin) for row in rows]) if rows else None


def _failed(pod: Pod, gate: GateOne, row: GateRow, node: Node, devices: Devices, plugin: Plugin | Missing) -> Failed:
    offered = row.others or tuple(_discovered(node))
    return Failed(
        about=f"node/{row.node}",
        summary=(
            f"{row.node}: the name {gate.resource} is still there ({row.arithmetic()}); the plugin serves "
            f"{listed(offered)} now{_or_sick(row, devices)}."
        ),
        nodes=(row.node,),
        evidence=(
            asked(pod, gate.resource, gate.asked),
            gate_row(gate, row),
            Evidence(object=f"node/{row.node}", field="status.allocatable", value=listed(offered)),
        ),
        remedy=(
            Remedy(f"Ask for what {row.node} offers now: {listed(offered)}", "", Risk.LOW),
            restart_plugin(
                row.node,
                plugin,
                f"To be rid of the old name, restart the device plugin of {row.node}, then its kubelet",
            ),
        ),
    )


def _is_stale(row: GateRow, gate: GateOne, node: Node, devices: Devices, stage: Stage) -> bool:
    """Lost while the node's plugin serves other names; or counted still, and unknown to feature discovery."""
    if Obstacle.GONE in row.obstacles and row.others:
        return not devices.explain(row)
    refused = stage is Stage.ADMISSION and bool(row.capacity)
    return refused and gate.resource.startswith(names.MIG_PREFIX) and _is_undiscovered(gate.resource, node)


def _or_sick(row: GateRow, devices: Devices) -> str:
    """The other reading of the numbers, where no plugin publishes its devices."""
    unknown = Obstacle.GONE in row.obstacles and devices.on(row.node) is None
    return "; or every device of the old name is unhealthy, which the plugin's log tells" if unknown else ""


def _is_undiscovered(resource: str, node: Node) -> bool:
    """Whether feature discovery, which labels every MIG resource with its count, does not know it."""
    labels = node.metadata.labels
    return names.GPU_COUNT in labels and f"{resource.removesuffix(_SHARED)}.count" not in labels


def _discovered(node: Node) -> list[str]:
    """What the node advertises and feature discovery knows."""
    there = amounts(node.status.allocatable)
    return [
        f"{name}: {count}"
        for name, count in sorted(there.items())
        if count and names.is_gpu_resource(name) and not _is_undiscovered(name, node)
    ]
