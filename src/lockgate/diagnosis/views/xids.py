"""The XIDs of each node, from wherever they are told: what they are, on which GPU, who acted, and whose GPU it is."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from typing import Final

import msgspec

from lockgate.accounting.checkpoint import PATH as CHECKPOINT
from lockgate.accounting.checkpoint import devices_by_pod
from lockgate.diagnosis.stage import Stage, stage_of
from lockgate.diagnosis.switch_told import NodeSxid, switch_errors
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.published import Published
from lockgate.diagnosis.xid_place import Place
from lockgate.diagnosis.xid_told import (
    NodeXid,
    from_conditions,
    from_events,
    from_kernel,
    from_operands,
    from_plugin,
    from_state,
    merged,
)
from lockgate.model.facts import DaemonSets, Events, Missing, NodeFolders, Nodes, Pods, Readings
from lockgate.model.node_state import DevicesState
from lockgate.model.objects import Event, Node, Pod
from lockgate.xid.kernel_log import KernelLog, bus_of, parse_kernel_log

_SMI_GPU: Final = re.compile(r"^GPU (?P<bus>[\dA-Fa-f:.]+)$(?P<rest>.*?)(?=^GPU |\Z)", re.MULTILINE | re.DOTALL)
_SMI_UUID: Final = re.compile(r"GPU UUID\s*:\s*(?P<uuid>GPU-[\da-fA-F-]+)")
_HOLDING: Final = (Stage.CREATING, Stage.RUNNING, Stage.FAILED, Stage.TERMINATING)
_PLUGIN: Final = "device-plugin"
_KERNELS: Final = ("NVRM:", "SXid (")  # what stands in each line of NVIDIA's in the kernel's log


class Xids:
    """What every node is known to have had."""

    def __init__(
        self,
        by_node: Mapping[str, tuple[NodeXid, ...]],
        switches: Mapping[str, tuple[NodeSxid, ...]],
        looked_at: Collection[str],
    ) -> None:
        self._by_node, self._switches, self._looked_at = by_node, switches, looked_at

    def known_of(self, node: str) -> bool:
        """Whether anything would have told of an XID of the node: its kernel's log, or its plugin's state."""
        return node in self._looked_at

    def on(self, node: str) -> tuple[NodeXid, ...]:
        """The XIDs of a node, oldest first as far as that is known."""
        return self._by_node.get(node, ())

    def switches_on(self, node: str) -> tuple[NodeSxid, ...]:
        """The SXids of the node's NVSwitches."""
        return self._switches.get(node, ())


def xids(
    nodes: Nodes | Missing,
    node_words: NodeWords,
    published: Published,
    node_files: NodeFolders | Missing,
    pods: Pods | Missing,
    namespace_pods: Pods | Missing,
    daemon_sets: DaemonSets | Missing,
    readings: Readings | Missing,
    events: Events | Missing,
) -> Xids:
    """Bring together what is told of XIDs; what is not known tells nothing."""
    near = namespace_pods if isinstance(pods, Missing) else pods
    settings = _settings(() if isinstance(daemon_sets, Missing) else daemon_sets)
    estate = _Estate(near, readings, events, settings)
    states = {name: state.status.devices for name, state in published.items()}
    files = {} if isinstance(node_files, Missing) else {f.node: f.files for f in node_files}
    known = {} if isinstance(nodes, Missing) else {n.name: n for n in nodes}
    found, switches, looked_at = {}, {}, set[str]()
    for name in {*known, *states, *files}:
        logs = [(source, parse_kernel_log(text)) for source, text in node_words.kernel(name)]
        repeated = [(w, parse_kernel_log(w.text)) for w in node_words.operand_logs(name) if _is_kernels(w.text)]
        said = estate.events.get(name, ())
        switches[name] = tuple(switch_errors(name, logs, repeated, said, node_words))
        looked_at |= {name} if logs or states.get(name) is not None else set()
        told = [
            *from_kernel(name, logs),
            *from_operands(repeated, (log for _, log in logs), node_words),
            *from_plugin(name, node_words),
            *from_state(name, states.get(name)),
            *from_conditions(known.get(name)),
            *from_events(said),
        ]
        if told:
            uuids = _uuids((log for _, log in (*logs, *repeated)), node_words.output(name, "nvidia-smi-q"))
            record = devices_by_pod(files.get(name, {}).get(CHECKPOINT, "")) or {}
            place = estate.place(name, known.get(name), states.get(name), record)
            gpus = (msgspec.structs.replace(t, uuid=t.uuid or uuids.get(t.bus, "")) for t in told)
            found[name] = tuple(place.completed(x) for x in merged(gpus))
    return Xids(found, switches, looked_at)


class _Estate:
    """What is known of all nodes at once, told apart by node; each only where some node needs it."""

    def __init__(
        self,
        pods: Pods | Missing,
        readings: Readings | Missing,
        events: Events | Missing,
        settings: Mapping[str, str] | None,
    ) -> None:
        self._pods = () if isinstance(pods, Missing) else pods
        self._readings = () if isinstance(readings, Missing) else readings
        self._events = () if isinstance(events, Missing) else events
        self._settings = settings

    def place(
        self, name: str, node: Node | None, devices: DevicesState | None, record: Mapping[str, tuple[str, ...]]
    ) -> Place:
        """One node with what tells whose its GPUs are."""
        here = [p for p in self._by_node.get(name, ()) if gpu_asked(p) and stage_of(p) in _HOLDING]
        return Place(node, devices, here, record, self._measured.get(name, {}), self._settings)

    @cached_property
    def events(self) -> Mapping[str, list[Event]]:
        """The events about each node that speak of an XID."""
        found: dict[str, list[Event]] = defaultdict(list)
        for each in self._events:
            if each.about.kind == "Node" and "Xid (" in each.text:
                found[each.about.name].append(each)
        return found

    @cached_property
    def _by_node(self) -> Mapping[str, list[Pod]]:
        found: dict[str, list[Pod]] = defaultdict(list)
        for pod in self._pods:
            found[pod.spec.node_name].append(pod)
        return found

    @cached_property
    def _measured(self) -> Mapping[str, dict[str, tuple[str, ...]]]:
        """GPU -> the pods that the exporter counts it to, by node; a shared GPU is counted to nobody."""
        found: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        for each in self._readings:
            if each.pod:
                before = found[each.node].get(each.device, ())
                found[each.node][each.device] = (*before, f"{each.namespace}/{each.pod}")
        return found


def _is_kernels(text: str) -> bool:
    return any(word in text for word in _KERNELS)


def _settings(daemon_sets: DaemonSets) -> dict[str, str] | None:
    """The environment of the first container that runs NVIDIA's plugin; None where there is none."""
    for each in daemon_sets:
        for container in each.spec.template.spec.containers:
            if "k8s-device-plugin" in container.image and _PLUGIN in container.name:
                return {e.name: e.value for e in container.env}
    return None


def _uuids(kernels: Iterable[KernelLog], smi: str) -> dict[str, str]:
    """PCI address -> UUID, as the kernel's log and `nvidia-smi -q` tell."""
    found = {}
    for match in _SMI_GPU.finditer(smi):
        if match["bus"].count(":") == 2 and (uuid := _SMI_UUID.search(match["rest"])):
            found[bus_of(match["bus"])] = uuid["uuid"]
    for log in kernels:
        found |= log.uuids
    return found
