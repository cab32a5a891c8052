"""A container is killed for memory of its host.

The kernel ended it at its `limits.memory`, at that of its pod (`spec.resources`), or since its node had none left.
Memory of a GPU is counted elsewhere and never ends a container: a program that runs out of it says so itself (`CUDA
out of memory`).

Why it matters: the exit code 137 and a program that dies while it loads a model look like a GPU that failed.
How to tell: the container's state, or its last one, has the reason `OOMKilled`.
Fix: raise the limit at which it ended, or let its program take less: fewer workers that load data, smaller caches in
memory, a model that is loaded in parts. A volume of `medium: Memory` (/dev/shm) counts as well. Where there is no
limit, `requests.memory` has it placed on a node that has enough.
"""

from typing import Final, NamedTuple

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage, bad_end, is_out_of_memory
from lockgate.diagnosis.ways import log_command
from lockgate.kit.counted import counted
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

_NO_LIMIT: Final = "neither it nor its pod has a limit, so its node had none left"


class _Limit(NamedTuple):
    """A limit of memory that holds for a container: whose it is in words, what to raise, where it stands."""

    whose: str
    named: str
    field: str
    value: str


@rule(codes=(), severity=Severity.ERROR, stages=(Stage.FAILED,), gpu=False, asks_gpu=None, mutes=BROKEN_NODE)
def out_of_memory(pod: Pod) -> Failed | None:
    status, ended = bad_end(pod)
    if status is None or ended is None or not is_out_of_memory(ended):
        return None
    place, name = pod_ref(pod), status.name
    limits = _limits(pod, name)
    times = f", {counted(status.restart_count, 'restart')}" if status.restart_count else ""
    at = " or ".join(f"{limit.whose} of {limit.value}" for limit in limits) or _NO_LIMIT
    log = log_command(pod.namespace, pod.name, name, previous=bool(status.restart_count))
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
            *(
                Evidence(object=place, field=f"{limit.field}.resources.limits[memory]", value=limit.value)
                for limit in limits
            ),
            *(() if limits else (Evidence(object=place, field=f"{_at(name)}.resources.limits[memory]", value="none"),)),
        ),
        remedy=(
            Remedy(f"{_raise(name, limits)}, or let its program take less", "", Risk.LOW),
            Remedy("See what it did last", log, Risk.NONE),
        ),
    )


def _limits(pod: Pod, name: str) -> tuple[_Limit, ...]:
    """Those that hold for a container: its own, and its pod's, which all containers share."""
    every = (*pod.spec.init_containers, *pod.spec.containers)
    own = next((c.resources.limits.get("memory", "") for c in every if c.name == name), "")
    shared = pod.spec.resources.limits.get("memory", "") if pod.spec.resources else ""
    found = (
        _Limit("its limit", f"limits.memory of container {name}", _at(name), str(own)),
        _Limit("its pod's limit", "spec.resources.limits.memory of the pod", "spec", str(shared)),
    )
    return tuple(limit for limit in found if limit.value)


def _at(name: str) -> str:
    return f"spec.containers[{name}]"


def _raise(name: str, limits: tuple[_Limit, ...]) -> str:
    if not limits:
        return f"Set requests.memory of container {name} to what it needs, so that it is placed where there is enough"
    return f"Raise {' or '.join(limit.named for limit in limits)}"
