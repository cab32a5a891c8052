"""Unhealthy devices are missing from what the node can give.

Capacity counts every device, allocatable only the healthy ones; the difference is what the plugin calls unhealthy.

Why it matters: an XID error, a lost GPU or a failed health check takes a device away without any event about the pod.
How to tell: allocatable is smaller than capacity; the plugin's log, or GPUNodeState, names the device and why.
Fix: see the reason of each device; reset or replace the GPU, or end what made it fail. Lockgate's plugin takes a
device back when it is well again, NVIDIA's has to be restarted.
"""

from collections.abc import Collection

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.remedies import read_plugin_log, restart_plugin
from lockgate.diagnosis.rule import Failed, Passed, on_each, rule
from lockgate.diagnosis.seen import gate_row, listed, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.devices import Devices
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.plugin import Plugin
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.node_state import Device
from lockgate.model.objects import Pod


@rule(codes=("C06", "C07"), severity=Severity.BLOCKER, stages=(Stage.SCHEDULING, Stage.NODE))
def unhealthy(pod: Pod, gate_one: GateOne, devices: Devices, plugin: Plugin | Missing) -> Failed | Passed | None:
    gone = [r for r in gate_one.nearest_with(Obstacle.GONE) if devices.explain(r)]
    rows = [*gate_one.nearest_with(Obstacle.UNHEALTHY), *gone]
    if rows:
        return on_each([_failed(pod, gate_one, row, devices, plugin) for row in rows])
    whole = [r.node for r in gate_one.rows if r.capacity and r.capacity == r.allocatable]
    return Passed(f"capacity equals allocatable on {listed(whole)}") if whole else None


def _failed(pod: Pod, gate: GateOne, row: GateRow, devices: Devices, plugin: Plugin | Missing) -> Failed:
    sick, marked = devices.unhealthy(row.node), devices.marked(row)
    logged = tuple(marked.values()) if row.allocatable else devices.logged(row)
    count = row.capacity - row.allocatable
    return Failed(
        about=f"node/{row.node}",
        codes=("C07",) if not row.allocatable else ("C06",),
        summary=f"{row.node} has {row.capacity} {gate.resource}, {count} unhealthy{_which(sick, marked, logged)}.",
        nodes=(row.node,),
        evidence=(
            *(_seen(row.node, d) for d in sick),
            *logged,
            gate_row(gate, row),
            *some(scheduler_word(pod)),
        ),
        remedy=(
            Remedy(
                f"On {row.node}, see what the kernel and the driver say of the GPU",
                "dmesg | grep -iE 'NVRM|Xid' | tail; nvidia-smi",
                Risk.NONE,
            ),
            read_plugin_log(row.node, plugin),
            *_take_back(row.node, plugin, bool(logged)),
        ),
    )


def _which(sick: tuple[Device, ...], marked: Collection[str], logged: tuple[Evidence, ...]) -> str:
    if sick:
        return f": {listed(map(_device, sick))}"
    if marked:
        return f": {listed(marked)}, says its device plugin's log"
    if logged:
        return ": its device plugin runs, and calls every one so in its log"
    return ". Which ones only the plugin's log on the node tells"


def _take_back(node: str, plugin: Plugin | Missing, is_one_way: bool) -> tuple[Remedy, ...]:
    """NVIDIA's plugin never calls a device healthy again (k8s-device-plugin#1014)."""
    return (restart_plugin(node, plugin, "Once the GPUs answer, start the plugin anew"),) if is_one_way else ()


def _device(device: Device) -> str:
    return f"{_named(device)} ({device.reason or 'no reason given'})"


def _named(device: Device) -> str:
    return " ".join(part for part in ("GPU", device.index, device.uuid) if part)


def _seen(node: str, device: Device) -> Evidence:
    field = f"status.devices[{device.uuid}].healthy"
    return Evidence(
        object=f"gpunodestate/{node}", field=field, value="false", verbatim=device.reason, note=_named(device)
    )
