"""A container is killed for memory of its host.

The kernel ended it at `limits.memory`, or since its node had none left. Memory of a GPU is counted elsewhere and never
ends a container: a program that runs out of it says so itself (`CUDA out of memory`).

Why it matters: the exit code 137 and a program that dies while it loads a model look like a GPU that failed.
How to tell: the container's state, or its last one, has the reason `OOMKilled`.
Fix: raise `limits.memory` of the container, or let its program take less: fewer workers that load data, smaller
caches in memory, a model that is loaded in parts. A volume of `medium: Memory` (/dev/shm) counts as well.
"""

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage, bad_end, is_out_of_memory
from lockgate.kit.counted import counted
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod


@rule(codes=(), severity=Severity.ERROR, stages=(Stage.FAILED,), gpu=False, asks_gpu=None, mutes=BROKEN_NODE)
def out_of_memory(pod: Pod) -> Failed | None:
    status, ended = bad_end(pod)
    if status is None or ended is None or not is_out_of_memory(ended):
        return None
    place, name = pod_ref(pod), status.name
    limit = next(
        (
            str(c.resources.limits.get("memory", ""))
            for c in (*pod.spec.init_containers, *pod.spec.containers)
            if c.name == name
        ),
        "",
    )
    times = f", {counted(status.restart_count, 'restart')}" if status.restart_count else ""
    at = f"its limit of {limit}" if limit else "it has no limit of its own, so its node had none left"
    previous = " --previous" if status.restart_count else ""
    return Failed(
        about=place,
        summary=f"Container {name} took more memory of the host than there is for it ({at}): OOMKilled, exit code "
        f"{ended.exit_code}{times}. Memory of a GPU has nothing to do with it.",
        evidence=(
            Evidence(
                object=place,
                field=f"status.containerStatuses[{name}]",
                value=f"OOMKilled, exit code {ended.exit_code}",
                verbatim=ended.message,
            ),
            Evidence(object=place, field=f"spec.containers[{name}].resources.limits[memory]", value=limit or "none"),
        ),
        remedy=(
            Remedy(f"Raise limits.memory of container {name}, or let its program take less", "", Risk.LOW),
            Remedy(
                "See what it did last",
                f"kubectl logs -n {pod.namespace} {pod.name} -c {name}{previous} --tail=50",
                Risk.NONE,
            ),
        ),
    )
