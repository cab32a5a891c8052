"""Which gates a pod has passed, and when: the two gates, and what the kubelet does between and after them."""

import datetime as dt
from collections.abc import Iterator

import msgspec

from lockgate.diagnosis.stage import Stage, is_ready, stage_of
from lockgate.model.objects import ContainerStatus, Pod


class Passed(msgspec.Struct, frozen=True):
    """One step that lies behind a pod; `at` is None where the cluster does not say when."""

    step: str
    text: str
    at: dt.datetime | None = None


def passed(pod: Pod) -> tuple[Passed, ...]:
    """The steps behind a pod, in the order in which they are taken."""
    return tuple(_steps(pod))


def is_over(pod: Pod) -> bool:
    """Whether there is nothing to wait for: it runs and is ready, has finished, or will never run."""
    stage = stage_of(pod)
    ended = stage in (Stage.SUCCEEDED, Stage.ADMISSION) or pod.status.phase == "Failed"
    return ended or (stage is Stage.RUNNING and is_ready(pod))


def _steps(pod: Pod) -> Iterator[Passed]:
    if pod.spec.node_name:
        # A pod that names its node itself was never seen by the scheduler.
        placed = _since(pod, "PodScheduled")
        yield Passed("gate 1 passed", f"it has a place on {pod.spec.node_name}", placed)
    if sandbox := _since(pod, "PodReadyToStartContainers"):
        yield Passed("sandbox", "its network and sandbox are there", sandbox)
    if pod.spec.init_containers and (done := _since(pod, "Initialized")):
        yield Passed("init", "its init containers are done", done)
    started = [_started(s) for s in pod.status.container_statuses]
    if started and all(started):
        moments = [moment for moment in started if moment is not None]
        yield Passed("gate 2 passed", "its containers have started with what was injected", max(moments))
    if is_ready(pod):
        yield Passed("ready", "it serves", _since(pod, "Ready"))


def _started(status: ContainerStatus) -> dt.datetime | None:
    """When a container's program began; one that the runtime could not start carries the beginning of time."""
    run = status.state.running or status.state.terminated or status.last_state.terminated
    began = run.started_at if run else None
    return began if began is not None and began.year > 1970 else None


def _since(pod: Pod, condition: str) -> dt.datetime | None:
    found = (c for c in pod.status.conditions if c.type == condition and c.status == "True")
    return next((c.last_transition_time for c in found), None)
