"""A container ends with an error.

Its program ended, both gates were passed, and nothing that is known of GPUs explains it.

Why it matters: it may be the program's own fault or a GPU's (an XID, a driver that went away); the log tells.
How to tell: the container's last state has an exit code and its log the last words. Events `Killing` and `Unhealthy`
of the kubelet tell that a liveness or startup probe failed, and that it ended the container itself.
Fix: read the container's log; look for `Xid` in the node's kernel log if it speaks of CUDA or NVML. Where a probe
fails, give it more time, or find out why the program does not answer.
"""

from lockgate.diagnosis.kubelet_words import is_ended_by_kubelet
from lockgate.diagnosis.probes import give_time, killed_by_probe
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage, bad_end, crash_loops, statuses
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.diagnosis.ways import log_command
from lockgate.kit.counted import counted
from lockgate.model.facts import Events, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import ContainerStatus, Pod, StateTerminated


@rule(codes=(), severity=Severity.ERROR, stages=(Stage.FAILED,), gpu=None, fallback=True, asks_gpu=None)
def container_failed(pod: Pod, pod_logs: PodLogs | Missing, pod_events: Events | Missing) -> Failed | None:
    if is_ended_by_kubelet(pod):
        return None
    status, ended = bad_end(pod)
    status = status or next(filter(crash_loops, statuses(pod)), None)
    container = status.name if status else ""
    field = f"status.containerStatuses[{status.name}]" if status else "status.phase"
    words = _words(ended) if ended else (pod.status.message or pod.status.reason or _untold(status))
    restarts = f", {counted(status.restart_count, 'restart')}" if status and status.restart_count else ""
    probe, told = _probe(container, ended, pod_events)
    log = log_command(pod.namespace, pod.name, container, previous=bool(status and status.restart_count))
    return Failed(
        about=pod_ref(pod),
        title=f"The kubelet ends a container whose {probe} probe fails" if probe else "",
        summary=f"{f'Container {container}' if container else 'It'} ended: {words}{restarts}. {_meaning(probe)}",
        evidence=(
            Evidence(
                object=pod_ref(pod),
                field=field,
                value=words,
                verbatim=ended.message if ended else pod.status.message or _waits(status),
            ),
            *told,
            *_last_line(pod, container, pod_logs),
        ),
        remedy=(
            *([give_time(probe)] if probe else []),
            Remedy("Read its log", log, Risk.NONE),
        ),
    )


def _probe(container: str, ended: StateTerminated | None, events: Events | Missing) -> tuple[str, tuple[Evidence, ...]]:
    """The probe that the kubelet ended it for, with its words."""
    if isinstance(events, Missing):
        return "", ()
    began = ended.started_at if ended else None
    return killed_by_probe(container, [e for e in events if not (began and e.last_seen and e.last_seen < began)])


def _meaning(probe: str) -> str:
    if probe:
        return (
            f"The kubelet ended it because its {probe} probe failed; whether it starts too slowly or hangs, on a GPU "
            "or elsewhere, its log tells."
        )
    return "Whether a GPU has to do with it cannot be told from here."


def _words(ended: StateTerminated) -> str:
    return f"{ended.reason or 'Error'}, exit code {ended.exit_code}"


def _untold(status: ContainerStatus | None) -> str:
    """Of a container that waits to be started again, and whose last end was not kept."""
    return f"{status.state.waiting.reason}, how is not told" if status and status.state.waiting else "how is not told"


def _waits(status: ContainerStatus | None) -> str:
    return status.state.waiting.message if status and status.state.waiting else ""


def _last_line(pod: Pod, container: str, logs: PodLogs | Missing) -> tuple[Evidence, ...]:
    for log in () if isinstance(logs, Missing) else logs.of(pod.namespace, pod.name):
        if log.container == container and log.text.strip():
            line = log.text.strip().splitlines()[-1][:500]
            return (Evidence(object=f"log of {pod.name}/{container}", verbatim=line, note="its last line"),)
    return ()
