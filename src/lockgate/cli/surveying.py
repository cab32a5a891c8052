"""The survey: the guide's read-only walk as one value. Nodes with both gates, operands, policy, and what is wrong."""

from collections.abc import Iterable
from typing import Final

import msgspec

from lockgate.capacity.node_capacity import NodeCapacity
from lockgate.capacity.overview import UnreadableError, accounts, accounts_of, is_requested_known, unread
from lockgate.capacity.table import By, Row, rows
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.operand_names import short_name
from lockgate.diagnosis.subject import Common
from lockgate.diagnosis.target import CLUSTER, Target
from lockgate.diagnosis.views.gate_two import GateTwo, NodeGate, gate_two
from lockgate.diagnosis.waive import NO_WAIVERS, Waivers
from lockgate.model import names
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.finding import Diagnosis
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.node_state import GPUNodeState
from lockgate.model.objects import ClusterPolicy, DaemonSet, Node
from lockgate.rules import all_rules

UNKNOWN = "unknown"
_NO_STATE: Final = "none"
EVERYTHING: Final = Target(CLUSTER, "")


class Part(msgspec.Struct, frozen=True, rename="camel"):
    """A part of the survey; names are stable."""


class Offer(Part, frozen=True, kw_only=True):
    """One GPU resource of a node in the scheduler's numbers; what depends on pods is None where those are not known."""

    resource: str
    physical: int | None
    capacity: int
    allocatable: int
    requested: int | None
    locked: int | None
    headroom: int | None
    sharing: tuple[str, ...]


class NodeLine(Part, frozen=True, kw_only=True):
    """One GPU node: gate 1 in numbers, gate 2 in handlers and CDI, and what it runs.

    `refused` names handlers that the runtime has said to lack since its agent looked.
    """

    node: str
    ready: bool | None
    cordoned: bool
    product: str
    offers: tuple[Offer, ...]
    handlers: tuple[str, ...] | None
    refused: tuple[str, ...]
    cdi_devices: int | None
    runtime_phase: str
    mig: str
    versions: dict[str, str]
    findings: tuple[str, ...]

    @property
    def handlers_said(self) -> str:
        """The handlers in words."""
        lacking = "".join(f"no {name}; " for name in self.refused)
        known = UNKNOWN if self.handlers is None else ", ".join(self.handlers) or "none"
        return lacking + known.replace(UNKNOWN, "others unknown") if lacking else known

    @property
    def configuration_said(self) -> str:
        """What the toolkit says of the runtime, and whether that is out of date."""
        outdated = ", out of date" if self.refused and self.handlers is None and self.runtime_phase else ""
        return (self.runtime_phase or UNKNOWN) + outdated


class OperandLine(Part, frozen=True, kw_only=True):
    """One operand: how many nodes want it, how many are ready."""

    operand: str
    namespace: str
    desired: int
    ready: int
    image: str


class PolicyLine(Part, frozen=True, kw_only=True):
    """One ClusterPolicy and what its operator says of it."""

    policy: str
    state: str
    message: str

    @property
    def said(self) -> str:
        """Its state and why, in words."""
        state = "has no state yet" if self.state == _NO_STATE else f"is {self.state}"
        return f"{state}: {self.message}" if self.message else state


class Survey(Part, frozen=True, kw_only=True):
    """The whole view; `unknown` says what could not be read."""

    nodes: tuple[NodeLine, ...]
    operands: tuple[OperandLine, ...]
    policies: tuple[PolicyLine, ...]
    diagnosis: Diagnosis
    unknown: tuple[str, ...]


def survey(
    snapshot: Snapshot,
    waivers: Waivers = NO_WAIVERS,
    asked: Target = EVERYTHING,
    wanted: frozenset[str] | None = None,
) -> Survey:
    """Look at everything once; raises UnreadableError without nodes.

    `asked` narrows what is wrong to it, `wanted` the nodes shown (None: all); numbers are those of the cluster.
    Raises TargetMissingError for a target that is not there.
    """
    nodes = snapshot.known_nodes
    if isinstance(nodes, Missing):
        raise UnreadableError(f"nodes are not known: {nodes.text}")
    common = Common(snapshot)
    answer = diagnose(snapshot, asked, all_rules(), waivers, common)
    counted = _counted(common)
    gates = gate_two(nodes, snapshot.node_states, snapshot.node_files, snapshot.events, snapshot.pods)
    states = {} if isinstance(snapshot.node_states, Missing) else {s.name: s for s in snapshot.node_states}
    of_node, struck = _by_node(rows(counted, By.NODE)), _struck(answer)
    gpu_nodes = sorted(
        (n for n in nodes if is_gpu_node(n) and (wanted is None or n.name in wanted)), key=lambda n: n.name
    )
    return Survey(
        nodes=tuple(
            _node(
                n,
                _offers(of_node.get(n.name, ()), is_requested_known(n, snapshot)),
                gates,
                states.get(n.name),
                struck.get(n.name, {}),
            )
            for n in gpu_nodes
        ),
        operands=_operands(snapshot),
        policies=_policies(snapshot),
        diagnosis=answer,
        unknown=(*unread(snapshot, counted), *_unread(snapshot)),
    )


def _counted(common: Common) -> tuple[NodeCapacity, ...]:
    """Every GPU node's account, from the arithmetic that the diagnosis did of it where all pods are known."""
    snapshot, places = common.snapshot, common.get("places")
    if isinstance(places, Missing) or isinstance(snapshot.pods, Missing):
        return accounts(snapshot)
    return accounts_of(((node, places.room(node)) for node in places.with_gpus), snapshot)


def _by_node(every: Iterable[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in every:
        found.setdefault(row.key, []).append(row)
    return found


def _struck(answer: Diagnosis) -> dict[str, dict[str, None]]:
    """By name what has a finding: the ids, in the order of the answer."""
    found: dict[str, dict[str, None]] = {}
    for finding in answer.findings:
        for name in (*finding.affects, finding.about.removeprefix("node/")):
            found.setdefault(name, {})[finding.id] = None
    return found


def _node(
    node: Node, offers: tuple[Offer, ...], gates: GateTwo, state: GPUNodeState | None, findings: Iterable[str]
) -> NodeLine:
    ready = next((c.status for c in node.status.conditions if c.type == "Ready"), None)
    gate = gates.on(node.name)
    runtime = state.status.runtime if state else None
    return NodeLine(
        node=node.name,
        ready=None if ready is None else ready == "True",
        cordoned=node.spec.unschedulable,
        product=node.metadata.labels.get(names.GPU_PRODUCT, "") or UNKNOWN,
        offers=offers,
        handlers=gate.loaded.names if gate.loaded else None,
        refused=tuple(sorted(gate.refusals)),
        cdi_devices=len(gate.cdi.devices) if gate.cdi else None,
        runtime_phase=runtime.phase if runtime else "",
        mig=_mig(node),
        versions=_versions(node, gate, state),
        findings=tuple(findings),
    )


def _offers(own: Iterable[Row], known: bool) -> tuple[Offer, ...]:
    """What a node offers; `known` whether it is known what is requested there."""
    return tuple(
        Offer(
            resource=row.resource,
            physical=row.physical,
            capacity=row.capacity,
            allocatable=row.allocatable,
            requested=row.requested if known else None,
            locked=row.locked if known else None,
            headroom=row.headroom if known else None,
            sharing=tuple(s.value for s in row.sharing),
        )
        for row in own
    )


def _mig(node: Node) -> str:
    labels = node.metadata.labels
    config, state = labels.get(names.MIG_CONFIG, ""), labels.get(names.MIG_CONFIG_STATE, "")
    return f"{config} ({state})" if state and config else config


def _versions(node: Node, gate: NodeGate, state: GPUNodeState | None) -> dict[str, str]:
    info, driver = node.status.node_info, state.status.driver if state else None
    labels = node.metadata.labels
    label = ".".join(part for n in ("major", "minor", "rev") if (part := labels.get(f"nvidia.com/cuda.driver.{n}", "")))
    found = {
        "driver": (driver.version if driver else "") or labels.get("nvidia.com/cuda.driver-version.full", "") or label,
        "cuda": driver.cuda_version if driver else "",
        "runtime": info.container_runtime_version or (f"containerd://{gate.release}" if gate.release else ""),
        "kubelet": info.kubelet_version,
        "kernel": info.kernel_version,
        "os": info.os_image,
    }
    return {name: text or UNKNOWN for name, text in found.items()}


def _operands(snapshot: Snapshot) -> tuple[OperandLine, ...]:
    sets = () if isinstance(snapshot.daemon_sets, Missing) else snapshot.daemon_sets
    return tuple(sorted((_operand(ds) for ds in sets if short_name(ds)), key=lambda o: (o.operand, o.namespace)))


def _operand(ds: DaemonSet) -> OperandLine:
    images = [c.image for c in ds.spec.template.spec.containers]
    return OperandLine(
        operand=short_name(ds),
        namespace=ds.namespace,
        desired=ds.status.desired_number_scheduled,
        ready=ds.status.number_ready,
        image=images[0] if images else "",
    )


def _policies(snapshot: Snapshot) -> tuple[PolicyLine, ...]:
    policies = () if isinstance(snapshot.cluster_policies, Missing) else snapshot.cluster_policies
    return tuple(PolicyLine(policy=p.name, state=p.status.state or _NO_STATE, message=_message(p)) for p in policies)


def _message(policy: ClusterPolicy) -> str:
    """The condition of NVIDIA's pair that holds says it all."""
    pair = (c for c in policy.status.conditions if c.type in ("Ready", "Error") and c.status == "True")
    return next((c.message for c in pair), "")


def _unread(snapshot: Snapshot) -> tuple[str, ...]:
    wanted = ("daemon_sets", "cluster_policies", "runtime_classes")
    missing = ((name, getattr(snapshot, name)) for name in wanted)
    return tuple(f"{name.replace('_', ' ')}: {m.reason}" for name, m in missing if isinstance(m, Missing))
