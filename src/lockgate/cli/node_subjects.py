"""Nodes of a bundle or of the live cluster as subjects of `lint`: what was copied from each, or what its agents say."""

import datetime as dt
from collections.abc import Mapping
from typing import Final

from lockgate.diagnosis.node_start import is_silent
from lockgate.diagnosis.views.gate_two import NodeGate, gate_two
from lockgate.kit.quantity import parse_quantity
from lockgate.lint.moments import parse_moment, parse_written
from lockgate.lint.subject import HandedOut, NodeFacts, Subject
from lockgate.model import names
from lockgate.model.facts import Missing, NodeFiles, Snapshot
from lockgate.model.node_state import CDISpec, ConfigFile, GPUNodeState
from lockgate.model.objects import Node

STARTED: Final = "containerd-started"  # what systemctl says, in nodes/<node>/containerd-started.txt
WRITTEN: Final = "containerd-files"  # what `stat -c '%y %n'` says, in nodes/<node>/containerd-files.txt
_STRATEGY: Final = "DEVICE_LIST_STRATEGY"


def node_subjects(snapshot: Snapshot) -> list[Subject]:
    """A subject for each node of which files are known."""
    gates = gate_two(snapshot.nodes, snapshot.node_states, snapshot.node_files, snapshot.events, snapshot.pods)
    folders = {} if isinstance(snapshot.node_files, Missing) else {f.node: f for f in snapshot.node_files}
    states = {} if isinstance(snapshot.node_states, Missing) else {s.name: s for s in snapshot.node_states}
    found = (_subject(snapshot, gates.on(n), folders.get(n), states.get(n)) for n in sorted({*folders, *states}))
    return [subject for subject in found if subject is not None]


def other_runtime(snapshot: Snapshot, name: str) -> str:
    """Why there is nothing to judge of a node whose kubelet uses no containerd; "" where it does, or does not say."""
    node = _node(snapshot, name)
    if node is None or node.status.node_info.runtime in ("", "containerd"):
        return ""
    told = node.status.node_info.container_runtime_version
    return f"it runs {told}, whose configuration lint does not read, and no CDI specification of it is known"


def _subject(
    snapshot: Snapshot, gate: NodeGate, folder: NodeFiles | None, state: GPUNodeState | None
) -> Subject | None:
    copied = {path: text for path, text in (folder.files if folder else {}).items() if "/cdi/" in path}
    published = state.status.cdi.specs if state and state.status.cdi and not copied else None
    specs = copied or {spec.path: spec.text for spec in published or () if spec.text}
    if not (gate.root or specs):
        return None
    return Subject(
        {**gate.files, **specs},
        gate.root,
        gate.release,
        gate.name,
        node=_facts(snapshot, gate, folder, state),
        lists_cdi=published is not None,
        withheld=tuple(spec.path for spec in published or () if spec.truncated),
        serves_cri=_serves(gate, _node(snapshot, gate.name)),
    )


def _serves(gate: NodeGate, node: Node | None) -> bool:
    """Whether the runtime answers the kubelet; of a node that is not ready its handlers are listed as they were."""
    return gate.loaded is not None and bool(gate.loaded.names) and (node is None or not is_silent(node))


def _node(snapshot: Snapshot, name: str) -> Node | None:
    known = () if isinstance(snapshot.nodes, Missing) else snapshot.nodes
    return next((node for node in known if node.name == name), None)


def _facts(
    snapshot: Snapshot, gate: NodeGate, folder: NodeFiles | None, state: GPUNodeState | None
) -> NodeFacts | None:
    """What else is known of a node; None for one that is known to have no GPUs, which needs no handler of ours."""
    nodes = () if isinstance(snapshot.nodes, Missing) else snapshot.nodes
    node = _node(snapshot, gate.name)
    if nodes and (node is None or node.metadata.labels.get("nvidia.com/gpu.present") != "true"):
        return None
    classes = () if isinstance(snapshot.runtime_classes, Missing) else snapshot.runtime_classes
    outputs = folder.outputs if folder else {}
    runtime = gate.runtime if gate.runtime and not outputs else None
    return NodeFacts(
        loaded=gate.loaded.names if gate.loaded else None,
        needed={each.name: each.handler for each in classes} if node else {},
        started=parse_moment(runtime.started if runtime else outputs.get(STARTED, "")),
        modified=_written(runtime.files if runtime else (), outputs),
        hands_out=_hands_out(snapshot, node, state),
    )


def _written(files: tuple[ConfigFile, ...], outputs: Mapping[str, str]) -> Mapping[str, dt.datetime]:
    published = {file.path: moment for file in files if (moment := parse_moment(file.modified))}
    return published or parse_written(outputs.get(WRITTEN, ""))


def _hands_out(snapshot: Snapshot, node: Node | None, state: GPUNodeState | None) -> HandedOut | None:
    """The CDI names of the node's device plugin; None where it answers with none, or where nothing tells."""
    said = state.status.devices if state else None
    if said is not None:
        elsewhere = _names(state.status.cdi.specs) if state and state.status.cdi else frozenset()
        devices = tuple(d.uuid for d in said.devices if f"{said.cdi_kind}={d.uuid}" not in elsewhere)
        return HandedOut(said.cdi_kind, devices) if said.cdi_kind and said.registered and devices else None
    return HandedOut(names.CDI_PLUGIN) if node and _advertises(node) and _uses_cdi(snapshot) else None


def _names(specs: tuple[CDISpec, ...]) -> frozenset[str]:
    """What specifications define whose texts are not at hand."""
    return frozenset(f"{spec.kind}={device}" for spec in specs if spec.truncated for device in spec.devices)


def _advertises(node: Node) -> bool:
    return any(names.is_gpu_resource(n) and parse_quantity(amount) > 0 for n, amount in node.status.allocatable.items())


def _uses_cdi(snapshot: Snapshot) -> bool:
    """Whether NVIDIA's device plugin was told a strategy of CDI, wherever it runs."""
    daemon_sets = () if isinstance(snapshot.daemon_sets, Missing) else snapshot.daemon_sets
    told = (e for each in daemon_sets for c in each.spec.template.spec.containers for e in c.env)
    return any(variable.name == _STRATEGY and "cdi-" in variable.value for variable in told)
