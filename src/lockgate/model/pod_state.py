"""What a DaemonSet's pod says of itself: its node, whether it is ready, what it waits for."""

import datetime as dt
from typing import Final

from lockgate.model.objects import ContainerStatus, Pod

FAILING: Final = frozenset(
    {
        "CrashLoopBackOff",
        "CreateContainerConfigError",
        "CreateContainerError",
        "ErrImagePull",
        "ErrImageNeverPull",
        "ImagePullBackOff",
        "InvalidImageName",
        "RunContainerError",
    }
)
"""Reasons of a waiting container with which the kubelet says that it tried and did not succeed."""

RECENT: Final = dt.timedelta(days=1)
"""So long what a restart has cured is still a warning; after it, it is a thing to know."""

_LOOP: Final = 2  # restarts
_SETTLED: Final = dt.timedelta(minutes=1)


def node_of(pod: Pod) -> str:
    """The node that a DaemonSet's pod is for, before it is there too; the pod's name when it does not say."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    terms = affinity.required.node_selector_terms if affinity and affinity.required else ()
    wanted = [field.values[0] for term in terms for field in term.match_fields if field.key == "metadata.name"]
    return pod.spec.node_name or next(iter(wanted), pod.name)


def is_ready(pod: Pod) -> bool:
    return any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)


def trouble(pod: Pod) -> str:
    """What a pod that is not ready waits for, from the first container that has not got there."""
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        if text := _waits(status):
            return f"{status.name} {text}"
    unscheduled = [c.message for c in pod.status.conditions if c.type == "PodScheduled" and c.status == "False"]
    return next(iter(unscheduled), pod.status.reason or pod.status.phase or "unknown")


def is_failing(pod: Pod) -> bool:
    """Whether a container of it was tried and did not get there: it crashed, or its image does not come."""
    statuses = (*pod.status.init_container_statuses, *pod.status.container_statuses)
    return any(_fails(status) for status in statuses)


def is_well(status: ContainerStatus) -> bool:
    """Whether a container is ready, or has done its work."""
    ended = status.state.terminated
    return status.ready or (ended is not None and ended.exit_code == 0)


def is_flapping(status: ContainerStatus, now: dt.datetime | None) -> bool:
    """Whether a container has just begun anew after it crashed before: in a crash loop it looks ready for seconds."""
    began, ended = status.state.running, status.last_state.terminated
    if now is None or began is None or began.started_at is None or ended is None or not ended.exit_code:
        return False
    return status.restart_count >= _LOOP and now - began.started_at < _SETTLED


def has_run(status: ContainerStatus) -> bool:
    """Whether a container runs or has run, so that it has a log."""
    now = status.state.running or status.state.terminated or status.last_state.terminated
    return now is not None or status.restart_count > 0


def _fails(status: ContainerStatus) -> bool:
    waiting, ended = status.state.waiting, status.state.terminated
    return (waiting is not None and waiting.reason in FAILING) or (ended is not None and ended.exit_code != 0)


def _waits(status: ContainerStatus) -> str:
    state = status.state
    if state.waiting and state.waiting.reason not in ("PodInitializing", ""):
        return " ".join(filter(None, (state.waiting.reason, state.waiting.message)))[:200]
    if state.terminated and state.terminated.exit_code:
        return f"ended with {state.terminated.exit_code} ({state.terminated.reason})"
    if state.running and not status.ready:
        return "is running"
    return ""
