"""What keeps new pods off a GPU node whatever is free there: cordon, taint, not ready, upgrade, paused operand."""

import enum

import msgspec

from lockgate.model import names
from lockgate.model.objects import Node, Taint
from lockgate.scheduling.taints import NO_EXECUTE, NO_SCHEDULE, NODE_IS_SICK, UNSCHEDULABLE_KEY, taint_text

# Taints that reserve GPU nodes for pods that ask for GPUs: such pods are expected to tolerate them.
_RESERVING = frozenset((names.GPU,))
_SETTLED = frozenset(("", "upgrade-done", "upgrade-required", "unknown"))


class LockKind(enum.StrEnum):
    """Why a node takes no new pods."""

    CORDONED = "cordoned"
    NOT_READY = "not-ready"
    TAINTED = "tainted"
    UPGRADING = "upgrading"
    PAUSED = "paused"


class Lock(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One reason, and the field that says it; `text` is for a person."""

    kind: LockKind
    text: str


def locks_of(node: Node) -> tuple[Lock, ...]:
    """Everything that keeps ordinary GPU pods off a node; empty when it is open."""
    return (*_cordon(node), *readiness(node), *_taints(node), *_upgrade(node), *_paused(node))


def _cordon(node: Node) -> tuple[Lock, ...]:
    if not node.spec.unschedulable:
        return ()
    return (Lock(kind=LockKind.CORDONED, text="spec.unschedulable is true"),)


def readiness(node: Node) -> tuple[Lock, ...]:
    """That the node is not ready, as its condition says; nothing where it is, or says nothing."""
    ready = next((c for c in node.status.conditions if c.type == "Ready"), None)
    if ready is None or ready.status == "True":
        return ()
    reason = f" ({ready.reason})" if ready.reason else ""
    return (Lock(kind=LockKind.NOT_READY, text=f"condition Ready is {ready.status}{reason}"),)


def _taints(node: Node) -> tuple[Lock, ...]:
    return tuple(Lock(kind=LockKind.TAINTED, text=taint_text(t)) for t in node.spec.taints if _locks(t, node))


def _locks(taint: Taint, node: Node) -> bool:
    if taint.effect not in (NO_SCHEDULE, NO_EXECUTE) or taint.key in _RESERVING:
        return False
    # The cordon's own taint, and those that mirror a condition which is listed already.
    if taint.key == UNSCHEDULABLE_KEY and node.spec.unschedulable:
        return False
    return not (taint.key in (f"{NODE_IS_SICK}not-ready", f"{NODE_IS_SICK}unreachable") and readiness(node))


def _upgrade(node: Node) -> tuple[Lock, ...]:
    state = node.metadata.labels.get(names.UPGRADE_STATE, "")
    if state in _SETTLED:
        return ()
    return (Lock(kind=LockKind.UPGRADING, text=f"{names.UPGRADE_STATE}={state}"),)


def _paused(node: Node) -> tuple[Lock, ...]:
    paused = (names.PAUSED_FOR_DRIVER, names.PAUSED_FOR_MIG)
    labels = node.metadata.labels.items()
    found = sorted((key, value) for key, value in labels if value in paused and key.startswith(names.DEPLOY_PREFIX))
    return tuple(Lock(kind=LockKind.PAUSED, text=f"{key}={value}") for key, value in found)
