"""The XIDs of each node, from wherever they are told: what they are, on which GPU, who acted, and whose GPU it is."""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Final

import msgspec

from lockgate.accounting.checkpoint import PATH as CHECKPOINT
from lockgate.accounting.checkpoint import devices_by_pod
from lockgate.diagnosis.stage import Stage, stage_of
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.xid_told import Holders, NodeXid, from_conditions, from_kernel, from_plugin, from_state, merged
from lockgate.model import names
from lockgate.model.facts import DaemonSets, Missing, NodeFolders, Nodes, NodeStates, Pods, Readings
from lockgate.model.node_state import DevicesState
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.requests import amounts
from lockgate.xid.kernel_log import KernelLog, SxidLine, bus_of, parse_kernel_log
from lockgate.xid.policies import nvidia_plugin_ignores

_SMI_GPU: Final = re.compile(r"^GPU (?P<bus>[\dA-Fa-f:.]+)$(?P<rest>.*?)(?=^GPU |\Z)", re.MULTILINE | re.DOTALL)
_SMI_UUID: Final = re.compile(r"GPU UUID\s*:\s*(?P<uuid>GPU-[\da-fA-F-]+)")
_HOLDING: Final = (Stage.CREATING, Stage.RUNNING, Stage.FAILED, Stage.TERMINATING)
_PLUGIN: Final = "device-plugin"


class Xids:
    """What every node is known to have had."""

    def __init__(
        self,
        by_node: Mapping[str, tuple[NodeXid, ...]],
        switches: Mapping[str, tuple[SxidLine, ...]],
        looked_at: Collection[str],
    ) -> None:
        self._by_node, self._switches, self._looked_at = by_node, switches, looked_at

    def known_of(self, node: str) -> bool:
        """Whether anything would have told of an XID of the node: its kernel's log, or its plugin's state."""
        return node in self._looked_at

    def on(self, node: str) -> tuple[NodeXid, ...]:
        """The XIDs of a node, oldest first as far as that is known."""
        return self._by_node.get(node, ())

    def switches_on(self, node: str) -> tuple[SxidLine, ...]:
        """The SXids of the node's NVSwitches."""
        return self._switches.get(node, ())


def xids(
    nodes: Nodes | Missing,
    node_words: NodeWords,
    node_states: NodeStates | Missing,
    node_files: NodeFolders | Missing,
    pods: Pods | Missing,
    namespace_pods: Pods | Missing,
    daemon_sets: DaemonSets | Missing,
    readings: Readings | Missing,
) -> Xids:
    """Bring together what is told of XIDs; what is not known tells nothing."""
    states = {} if isinstance(node_states, Missing) else {s.name: s.status.devices for s in node_states}
    files = {} if isinstance(node_files, Missing) else {f.node: f.files for f in node_files}
    known_nodes = {} if isinstance(nodes, Missing) else {n.name: n for n in nodes}
    near = namespace_pods if isinstance(pods, Missing) else pods
    every = () if isinstance(near, Missing) else near
    settings = _settings(() if isinstance(daemon_sets, Missing) else daemon_sets)
    found, switches, looked_at = {}, {}, set[str]()
    for name in {*known_nodes, *states, *files}:
        logs = [(source, parse_kernel_log(text)) for source, text in node_words.kernel(name)]
        switches[name] = tuple(s for _, log in logs for s in log.sxids)
        node = known_nodes.get(name)
        looked_at |= {name} if logs or states.get(name) is not None else set()
        told = [
            *from_kernel(name, logs),
            *from_plugin(name, node_words),
            *from_state(name, states.get(name)),
            *from_conditions(node),
        ]
        if told:
            uuids = _uuids(logs, node_words.output(name, "nvidia-smi-q"))
            devices = states.get(name)
            measured = _measured(name, readings)
            place = _Place(node, devices, _holding(name, every), _record(files.get(name, {})), measured, settings)
            gpus = (msgspec.structs.replace(t, uuid=t.uuid or uuids.get(t.bus, "")) for t in told)
            found[name] = tuple(place.completed(x) for x in merged(gpus))
    return Xids(found, switches, looked_at)


def _holding(node: str, pods: Pods) -> list[Pod]:
    """The pods that have GPUs of a node, or had them when they ended."""
    return [p for p in pods if p.spec.node_name == node and gpu_asked(p) and stage_of(p) in _HOLDING]


def _record(files: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    return devices_by_pod(files.get(CHECKPOINT, "")) or {}


def _measured(node: str, readings: Readings | Missing) -> dict[str, tuple[str, ...]]:
    """GPU -> the pods that the exporter counts it to; a shared GPU is counted to nobody."""
    found: dict[str, tuple[str, ...]] = {}
    for each in () if isinstance(readings, Missing) else readings:
        if each.node == node and each.pod:
            found[each.device] = (*found.get(each.device, ()), f"{each.namespace}/{each.pod}")
    return found


class _Place(msgspec.Struct, frozen=True):
    """What of a node tells whose GPU it is and who leaves its XIDs alone.

    `record` is the kubelet's, by pod uid; `measured` what the exporter says, by GPU.
    """

    node: Node | None
    devices: DevicesState | None
    here: list[Pod]
    record: Mapping[str, tuple[str, ...]]
    measured: Mapping[str, tuple[str, ...]]
    settings: Mapping[str, str] | None

    def completed(self, xid: NodeXid) -> NodeXid:
        acted = xid.acted or _left_alone(xid.code.number, self.settings)
        return msgspec.structs.replace(xid, holders=self._holders(xid), acted=acted, past=self._is_past(xid))

    def _is_past(self, xid: NodeXid) -> bool:
        """Whether the device plugin has the GPU in use again: this one, or all where it is not told which."""
        if self.devices is None or not self.devices.registered or xid.active:
            return False
        own = [d for d in self.devices.devices if d.uuid == xid.uuid] or self.devices.devices
        return bool(own) and all(d.healthy for d in own)

    def _holders(self, xid: NodeXid) -> Holders:
        """Whose GPU it is, as the kubelet or the exporter says; else every pod with a GPU that was there in time."""
        in_time = [p for p in self.here if _was_there(p, xid)]
        if xid.uuid and self.record:
            own = [p for p in in_time if xid.uuid in self.record.get(p.metadata.uid, ())]
            return Holders(_called(own), known=True)
        if xid.uuid in self.measured:
            return Holders(tuple(sorted(set(self.measured[xid.uuid]))), known=True)
        return Holders(_called(in_time), known=len(in_time) == 1 and _gpus(self.node) == 1)


def _was_there(pod: Pod, xid: NodeXid) -> bool:
    return xid.at is None or pod.status.start_time is None or pod.status.start_time <= xid.at


def _left_alone(code: int, settings: Mapping[str, str] | None) -> tuple[str, ...]:
    """What NVIDIA's plugin, where it runs with settings that are known, does about a code that nobody acted on."""
    if settings is None:
        return ()
    disable, enable = settings.get("DP_DISABLE_HEALTHCHECKS", ""), settings.get("DP_ENABLE_HEALTHCHECKS", "")
    if not nvidia_plugin_ignores(code, disable, enable):
        return ()
    why = f"DP_DISABLE_HEALTHCHECKS={disable}" if disable else "it is on its list of application errors"
    return (f"NVIDIA's device plugin ignores it: {why}",)


def _settings(daemon_sets: DaemonSets) -> dict[str, str] | None:
    """The environment of the first container that runs NVIDIA's plugin; None where there is none."""
    for each in daemon_sets:
        for container in each.spec.template.spec.containers:
            if "k8s-device-plugin" in container.image and _PLUGIN in container.name:
                return {e.name: e.value for e in container.env}
    return None


def _called(pods: Iterable[Pod]) -> tuple[str, ...]:
    return tuple(sorted(f"{p.namespace}/{p.name}" for p in pods))


def _gpus(node: Node | None) -> int:
    capacity = amounts(node.status.capacity) if node else {}
    return sum(int(count) for name, count in capacity.items() if names.is_gpu_resource(name))


def _uuids(logs: Iterable[tuple[str, KernelLog]], smi: str) -> dict[str, str]:
    """PCI address -> UUID, as the kernel's log and `nvidia-smi -q` tell."""
    found = {}
    for match in _SMI_GPU.finditer(smi):
        if match["bus"].count(":") == 2 and (uuid := _SMI_UUID.search(match["rest"])):
            found[bus_of(match["bus"])] = uuid["uuid"]
    for _, log in logs:
        found |= log.uuids
    return found
