"""A driver upgrade does not go on.

The operator exchanges drivers node by node: it cordons, waits for jobs, deletes GPU pods, restarts the driver and
validates. It keeps its place in a label of the node, and does not say why it stands still.

Why it matters: the node stays cordoned, or keeps the old driver; a node that failed keeps its place in the budget, so
that others wait for it as well.
How to tell: `nvidia.com/gpu-driver-upgrade-state`; events `GPUDriverUpgrade` of the node say what failed.
Fix: mend what the driver pod or the event says, then set the label to `upgrade-required`; delete the driver pod if it
stays. A PodDisruptionBudget, a pod without a controller or with an emptyDir keeps GPU pods from being deleted.
"""

import datetime as dt
from typing import Final

import msgspec

from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import event, listed, pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.ways import log_command
from lockgate.model import names
from lockgate.model.facts import Events, Missing, Nodes, Snapshot
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Event, Node, Pod
from lockgate.model.pod_state import is_failing, is_ready, trouble

# k8s-operator-libs pkg/upgrade (consts.go, pod_manager.go, validation_manager.go).
_DONE = ("", "upgrade-done")
_REASON = "GPUDriverUpgrade"
_SKIP = "nvidia.com/gpu-driver-upgrade.skip"
_DELETING = ("pod-deletion-required", "drain-required")
# A driver's container compiles the kernel's modules: no step of an upgrade takes longer by itself.
_STEP: Final = dt.timedelta(minutes=10)


class _Halt(msgspec.Struct, frozen=True):
    """Why an upgrade stands still, as far as it does, and how bad that is."""

    words: str
    severity: Severity
    goes_on: bool = False


@rule(
    codes=("H15",),
    severity=Severity.ERROR,
    stages=(Stage.NODE,),
    asks_gpu=None,
    mutes=(
        "scheduling/cordoned",
        "operands/plugin-not-targeted",
        "operands/left-out",
        "operands/plugin-gone",
        "operands/crashes",
        "operands/init-waits",
        "operator/policy-not-ready",
    ),
)
def upgrade_stuck(
    node: Node, nodes: Nodes, operands: Operands, events: Events | Missing, snapshot: Snapshot
) -> Failed | Passed | None:
    state = _state(node)
    if state in _DONE:
        return Passed(f"the driver upgrade of {node.name} is done") if state else None
    warned = _warned(node, events)
    halt = _halt(node, state, nodes, operands, warned)
    return Failed(
        about=f"node/{node.name}",
        severity=halt.severity,
        title="A driver is being upgraded" if halt.goes_on else "",
        summary=f"{node.name}: the driver upgrade is at {state}; {halt.words}.",
        evidence=(
            Evidence(object=f"node/{node.name}", field=f"metadata.labels[{names.UPGRADE_STATE}]", value=state),
            *(event(e) for e in warned[-2:]),
            *_driver(operands.pod_on(node.name, "driver")),
        ),
        remedy=(_watch(),) if halt.goes_on else _remedies(node, operands),
        passing=halt.goes_on and _is_young(node, operands, events, snapshot.taken_at),
    )


def _driver(pod: Pod | None) -> tuple[Evidence, ...]:
    """The driver's pod, where it is what the upgrade waits for."""
    if pod is None or is_ready(pod):
        return ()
    return (Evidence(object=pod_ref(pod), field="status", value="not Ready", note=trouble(pod)),)


def _is_young(node: Node, operands: Operands, events: Events | Missing, now: dt.datetime | None) -> bool:
    """Whether a step began minutes ago, by an event of the upgrade or the age of the driver's pod; nothing fails."""
    if now is None or any(is_failing(each.pod) for each in operands.on(node.name)):
        return False
    driver = operands.pod_on(node.name, "driver")
    moments = [e.last_seen for e in _told(node, events)]
    moments += [driver.metadata.creation_timestamp] if driver else []
    return any(at is not None and now - at < _STEP for at in moments)


def _state(node: Node) -> str:
    return node.metadata.labels.get(names.UPGRADE_STATE, "")


def _halt(node: Node, state: str, nodes: Nodes, operands: Operands, warned: Events) -> _Halt:
    match state:
        case "upgrade-failed":
            return _Halt("it failed, and keeps its place in the budget until somebody mends it", Severity.ERROR)
        case "upgrade-required":
            return _waiting(node, nodes)
        case _ if (driver := operands.pod_on(node.name, "driver")) is not None and is_failing(driver):
            return _Halt("its driver's pod does not come up", Severity.ERROR)
        case "validation-required" if _lacks_validator(node, operands):
            return _Halt("no validator runs on the node, so it waits for good", Severity.WARNING)
        case _ if state in _DELETING and warned:
            return _Halt("GPU pods of the node cannot be deleted", Severity.WARNING)
        case _:
            away = node.spec.unschedulable
            return _Halt("it goes on", Severity.WARNING if away else Severity.INFO, goes_on=True)


def _lacks_validator(node: Node, operands: Operands) -> bool:
    """Whether none of the pods that are known there is the validator's."""
    there = operands.on(node.name)
    return bool(there) and not any(each.operand == "operator-validator" for each in there)


def _waiting(node: Node, nodes: Nodes) -> _Halt:
    if node.metadata.labels.get(_SKIP) == "true":
        return _Halt(f"a person leaves the node out with {_SKIP}", Severity.INFO, goes_on=True)
    failed = [n.name for n in nodes if _state(n) == "upgrade-failed"]
    if failed:
        return _Halt(f"it waits for a place, which {listed(failed)} keeps that failed", Severity.WARNING)
    return _Halt("it waits for its turn", Severity.INFO, goes_on=True)


def _warned(node: Node, events: Events | Missing) -> tuple[Event, ...]:
    return tuple(e for e in _told(node, events) if e.type == "Warning")


def _told(node: Node, events: Events | Missing) -> tuple[Event, ...]:
    """What the operator has said of the node's upgrade."""
    known = () if isinstance(events, Missing) else events
    own = (e for e in known if e.about.kind == "Node" and e.about.name == node.name)
    return tuple(e for e in own if e.reason == _REASON)


def _watch() -> Remedy:
    return Remedy("See how far the nodes are", f"kubectl get nodes -L {names.UPGRADE_STATE}", Risk.NONE)


def _remedies(node: Node, operands: Operands) -> tuple[Remedy, ...]:
    driver = operands.pod_on(node.name, "driver")
    look = log_command(driver.namespace, driver.name, lines=100) if driver else ""
    return (
        Remedy(
            "See what happened on the node, and what the driver says",
            f"kubectl get events -A --field-selector reason={_REASON}" + (f"; {look}" if look else ""),
            Risk.NONE,
        ),
        Remedy(
            "Once that is mended, let the upgrade begin anew",
            f"kubectl label node {node.name} --overwrite {names.UPGRADE_STATE}=upgrade-required",
            Risk.HIGH,
        ),
    )
