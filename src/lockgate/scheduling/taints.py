"""Which taint of a node a pod does not tolerate.

Source: k8s.io/api v0.37 core/v1/toleration.go, component-helpers scheduling/corev1, kube-scheduler TaintToleration and
NodeUnschedulable. The comparison operators `Lt` and `Gt` are an alpha gate (TaintTolerationComparisonOperators, off in
1.35-1.37); an API server without it refuses such pods, so a pod that has one is read as the gate being on.
"""

import re
from collections.abc import Iterable

from lockgate.model.objects import Node, Taint, Toleration

NO_SCHEDULE = "NoSchedule"
NO_EXECUTE = "NoExecute"
UNSCHEDULABLE_KEY = "node.kubernetes.io/unschedulable"
# Taints that the node controller sets for what the node itself is (not ready, short of disk): none is to be tolerated.
NODE_IS_SICK = "node.kubernetes.io/"
_BLOCKING = frozenset((NO_SCHEDULE, NO_EXECUTE))
_CORDON = Taint(key=UNSCHEDULABLE_KEY, effect=NO_SCHEDULE)
_DECIMAL = re.compile(r"-?[1-9][0-9]*|0")


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether one toleration covers one taint; an empty key, effect or operator means any, any and `Equal`."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Lt" | "Gt":
            return _compares(toleration, taint)
        case _:
            return False


def tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Whether any of the tolerations covers the taint."""
    return any(tolerates(toleration, taint) for toleration in tolerations)


def untolerated_taints(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> tuple[Taint, ...]:
    """Every taint that keeps the pod away, in the node's order; the scheduler reports the first.

    `PreferNoSchedule` never keeps a pod away, so it is left out.
    """
    tolerations = tuple(tolerations)
    return tuple(t for t in taints if t.effect in _BLOCKING and not tolerated(t, tolerations))


def untolerated_taint(node: Node, tolerations: Iterable[Toleration]) -> Taint | None:
    """The taint that the scheduler stops at, or None when the pod tolerates all that matter."""
    return next(iter(untolerated_taints(node.spec.taints, tolerations)), None)


def is_cordoned_for(node: Node, tolerations: Iterable[Toleration]) -> bool:
    """Whether `spec.unschedulable` keeps the pod away; a toleration of the unschedulable taint passes it."""
    return node.spec.unschedulable and not tolerated(_CORDON, tolerations)


def taint_text(taint: Taint) -> str:
    """A taint as kubectl writes it: `key=value:Effect`, or `key:Effect` without a value."""
    value = f"={taint.value}" if taint.value else ""
    return f"{taint.key}{value}:{taint.effect}"


def toleration_for(taint: Taint) -> Toleration:
    """The narrowest toleration that covers a taint: what a remedy should propose."""
    if taint.value:
        return Toleration(key=taint.key, operator="Equal", value=taint.value, effect=taint.effect)
    return Toleration(key=taint.key, operator="Exists", effect=taint.effect)


def admitted_tolerations(tolerations: tuple[Toleration, ...]) -> tuple[Toleration, ...]:
    """A pod's tolerations once the API server has admitted it: five minutes on a node that is not ready or unreachable.

    Source: plugin/pkg/admission/defaulttolerationseconds, on by default; what the pod says itself of a key is kept.
    """
    added = tuple(
        Toleration(key=key, operator="Exists", effect=NO_EXECUTE, toleration_seconds=300)
        for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
        if not any(t.key in ("", key) and t.effect in ("", NO_EXECUTE) for t in tolerations)
    )
    return (*tolerations, *added)


def daemonset_tolerations(host_network: bool) -> tuple[Toleration, ...]:
    """What the DaemonSet controller adds to each of its pods.

    Source: pkg/controller/daemon/util AddOrUpdateDaemonPodTolerations.
    """
    keys = [
        ("node.kubernetes.io/not-ready", NO_EXECUTE),
        ("node.kubernetes.io/unreachable", NO_EXECUTE),
        ("node.kubernetes.io/disk-pressure", NO_SCHEDULE),
        ("node.kubernetes.io/memory-pressure", NO_SCHEDULE),
        ("node.kubernetes.io/pid-pressure", NO_SCHEDULE),
        (UNSCHEDULABLE_KEY, NO_SCHEDULE),
    ]
    if host_network:
        keys.append(("node.kubernetes.io/network-unavailable", NO_SCHEDULE))
    return tuple(Toleration(key=key, operator="Exists", effect=effect) for key, effect in keys)


def _compares(toleration: Toleration, taint: Taint) -> bool:
    """Read both values as decimal integers; anything else, leading zeros included, does not match."""
    bound, value = _int64(toleration.value), _int64(taint.value)
    if bound is None or value is None:
        return False
    return value < bound if toleration.operator == "Lt" else value > bound


def _int64(text: str) -> int | None:
    if not _DECIMAL.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
