"""A container ends with an error.

Its program ended, both gates were passed, and nothing that is known of GPUs explains it.

Why it matters: it may be the program's own fault or a GPU's (an XID, a driver that went away); the log tells.
How to tell: the container's last state has an exit code and its log the last words. `OOMKilled` is about memory of
the host: the kernel ended it at `limits.memory`, or since the node had none left. GPU memory has nothing to do with
it. Events `Killing` and `Unhealthy` of the kubelet tell that a liveness or startup probe failed, and that it ended the
container itself.
Fix: read the container's log; look for `Xid` in the node's kernel log if it speaks of CUDA or NVML. After `OOMKilled`
raise `limits.memory`; where a probe fails, give it more time, or find out why the program does not answer.
"""

from typing import Final

from lockgate.diagnosis.kubelet_words import is_ended_by_kubelet
from lockgate.diagnosis.probes import give_time, killed_by_probe
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage, bad_end, is_out_of_memory
from lockgate.kit.counted import counted
from lockgate.model.facts import Events, Logs, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod, StateTerminated

_MORE_MEMORY: Final = Remedy("Raise limits.memory of the container, or let its program take less", "", Risk.LOW)


@rule(codes=(), severity=Severity.ERROR, stages=(Stage.FAILED,), gpu=None, fallback=True, asks_gpu=None)
def container_failed(pod: Pod, logs: Logs | Missing, pod_events: Events | Missing) -> Failed | None:
    if is_ended_by_kubelet(pod):
        return None
    status, ended = bad_end(pod)
    name, which = (f"Container {status.name}", f" -c {status.name}") if status else ("It", "")
    field = f"status.containerStatuses[{status.name}]" if status else "status.phase"
    words = _words(ended) if ended else (pod.status.message or pod.status.reason or "no status")
    restarts = f", {counted(status.restart_count, 'restart')}" if status and status.restart_count else ""
    previous = " --previous" if status and status.restart_count else ""
    probe, told = _probe(status.name if status else "", ended, pod_events)
    return Failed(
        about=pod_ref(pod),
        title=f"The kubelet ends a container whose {probe} probe fails" if probe else "",
        summary=f"{name} ended: {words}{restarts}. {_meaning(ended, probe)}",
        evidence=(
            Evidence(
                object=pod_ref(pod),
                field=field,
                value=words,
                verbatim=ended.message if ended else pod.status.message,
            ),
            *told,
            *_last_line(pod, status.name if status else "", logs),
        ),
        remedy=(
            *([_MORE_MEMORY] if is_out_of_memory(ended) else []),
            *([give_time(probe)] if probe else []),
            Remedy("Read its log", f"kubectl logs -n {pod.namespace} {pod.name}{which}{previous} --tail=50", Risk.NONE),
        ),
    )


def _probe(container: str, ended: StateTerminated | None, events: Events | Missing) -> tuple[str, tuple[Evidence, ...]]:
    """The probe that the kubelet ended it for, with its words; memory of the host is a reason of its own."""
    if is_out_of_memory(ended) or isinstance(events, Missing):
        return "", ()
    began = ended.started_at if ended else None
    return killed_by_probe(container, [e for e in events if not (began and e.last_seen and e.last_seen < began)])


def _meaning(ended: StateTerminated | None, probe: str) -> str:
    if is_out_of_memory(ended):
        return "It used more memory than limits.memory or its node has: memory of the host, not of a GPU."
    if probe:
        return (
            f"The kubelet ended it because its {probe} probe failed; whether it starts too slowly or hangs, on a GPU "
            "or elsewhere, its log tells."
        )
    return "Whether a GPU has to do with it cannot be told from here."


def _words(ended: StateTerminated) -> str:
    return f"{ended.reason or 'Error'}, exit code {ended.exit_code}"


def _last_line(pod: Pod, container: str, logs: Logs | Missing) -> tuple[Evidence, ...]:
    for log in () if isinstance(logs, Missing) else logs:
        if (log.namespace, log.pod, log.container) == (pod.namespace, pod.name, container) and log.text.strip():
            line = log.text.strip().splitlines()[-1][:500]
            return (Evidence(object=f"log of {pod.name}/{container}", verbatim=line, note="its last line"),)
    return ()
