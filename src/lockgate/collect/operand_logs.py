"""The logs of operands that are not well: which containers to ask for, the first broken stage of a node first, bounded.

An operand may be ready and fail at its work, or repeat what the kernel says: a device plugin or a driver on a node
that offers fewer GPUs than it has, or on which a pod ended; a MIG manager whose node says `failed`, the operator that
cannot follow its policy. Their logs are asked for as well.
"""

import asyncio
import datetime as dt
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

import msgspec

from lockgate.collect.reader import Reader
from lockgate.kit.by_identity import by_two
from lockgate.model import names
from lockgate.model.facts import Log, Missing
from lockgate.model.objects import Labels, Node, OwnerReference, Pod
from lockgate.model.pod_state import has_run, is_flapping, is_ready, is_well

# By name, in the order in which they wait for each other: a log more or less decides nothing.
_STAGES: Final = ("driver", "container-toolkit", "validator", "device-plugin", "mps", "mig-manager", "")
_PREFIXES: Final = ("nvidia-", "gpu-feature-discovery", "lockgate-")
_MAKERS: Final = ("DaemonSet", "ClusterPolicy")  # the validator's own pods belong to the policy


class Run(msgspec.Struct, frozen=True):
    """One run of a container whose log is wanted."""

    pod: Pod
    container: str
    previous: bool = False


def is_operand(pod: Pod) -> bool:
    """Whether a pod looks like one of a GPU operator or device plugin."""
    return is_operand_name(pod.name) and _has_maker(pod.metadata.owner_references)


def is_operand_name(name: str) -> bool:
    """Whether a DaemonSet or a pod of one is called as those of a GPU operator or device plugin are."""
    return name.startswith(_PREFIXES) or "device-plugin" in name


def is_operator(pod: Pod) -> bool:
    """Whether a pod is the operator itself, which is ready also when it cannot follow its policy."""
    return _is_operators(pod.metadata.labels)


@by_two  # most pods of a cluster are neither, and are judged by workload
def _may_be_own(labels: Labels, owners: tuple[OwnerReference, ...]) -> bool:
    return _has_maker(owners) or _is_operators(labels)


def _has_maker(owners: tuple[OwnerReference, ...]) -> bool:
    return any(o.kind in _MAKERS for o in owners)


def _is_operators(labels: Labels) -> bool:
    return labels.get("app") == "gpu-operator"


def wanted_runs(
    pods: Iterable[Pod],
    nodes: Iterable[Node],
    most: int,
    now: dt.datetime | None = None,
    doubted: Collection[str] = (),
) -> list[Run]:
    """The runs of operands that are not well; of many nodes the first broken stage of each comes first.

    `doubted` are names of nodes on which a pod ended that may have ended by an XID. A pod that comes twice counts once,
    as it was read last.
    """
    known = {node.name: node for node in nodes}
    likely = [p for p in pods if _may_be_own(p.metadata.labels, p.metadata.owner_references)]
    own = {(p.namespace, p.name): p for p in likely if is_operand(p) or is_operator(p)}
    sick = [
        p
        for p in own.values()
        if is_operator(p)
        or _is_sick(p, known.get(p.spec.node_name), now)
        or (p.spec.node_name in doubted and _tells_xids(p))
    ]
    ranked = sorted(sick, key=lambda p: (_stage(p), p.spec.node_name, p.name))
    turns: dict[str, int] = {}
    order = []
    for pod in ranked:
        turn = turns.get(pod.spec.node_name, 0)
        turns[pod.spec.node_name] = turn + 1
        order.append((turn, pod))
    runs = [run for _, pod in sorted(order, key=lambda o: o[0]) for run in _runs(pod, now)]
    return runs[:most]


async def read_runs(read: Reader, runs: Sequence[Run]) -> Any:
    """Their logs; Missing where none of them may be read."""
    answers = await asyncio.gather(*(read.log(run.pod, run.container, run.previous) for run in runs))
    missing = next((a for a in answers if isinstance(a, Missing)), None)
    told = tuple(a for a in answers if isinstance(a, Log))
    return missing if missing and not told else told


def offers_its_gpus(node: Node) -> bool:
    """Whether a node offers GPUs, and as many as it has: else its plugin's log says why not."""
    capacity, offered = node.status.capacity, node.status.allocatable
    own = [name for name in capacity if names.is_gpu_resource(name) and capacity[name] != "0"]
    return bool(own) and all(offered.get(name) == capacity[name] for name in own)


def _is_sick(pod: Pod, node: Node | None, now: dt.datetime | None) -> bool:
    if pod.metadata.deletion_timestamp is not None or pod.status.phase == "Succeeded":
        return False
    if not is_ready(pod) or any(is_flapping(status, now) for status in pod.status.container_statuses):
        return True
    return node is not None and _fails_ready(pod, node)


def _fails_ready(pod: Pod, node: Node) -> bool:
    if _tells_xids(pod):
        return not offers_its_gpus(node)
    return "mig-manager" in pod.name and node.metadata.labels.get(names.MIG_CONFIG_STATE) == "failed"


def _tells_xids(pod: Pod) -> bool:
    """Whether its log tells of XIDs: the plugin's own, and the kernel's that the driver's container repeats."""
    return "device-plugin" in pod.name or _STAGES[_stage(pod)] == "driver"


def _stage(pod: Pod) -> int:
    return next(place for place, word in enumerate(_STAGES) if word in pod.name)


def own_runs(pods: Iterable[Pod], most: int) -> list[Run]:
    """The runs of pods that are asked about, of those that are not well first: of each container that has run, and the
    run before of one that crashed and began anew. An init container that has done its work tells nothing.
    """
    nearest = sorted(pods, key=is_ready)[:most]
    return [run for pod in nearest for run in _own_runs(pod)]


def _own_runs(pod: Pod) -> Iterable[Run]:
    failed = (s for s in pod.status.init_container_statuses if not is_well(s))
    for status in filter(has_run, (*failed, *pod.status.container_statuses)):
        yield Run(pod, status.name)
        if status.state.running and not status.ready and status.restart_count:
            yield Run(pod, status.name, previous=True)


def _runs(pod: Pod, now: dt.datetime | None) -> Iterable[Run]:
    """The present run of each container that is not well, and the one before where it has just begun anew.

    Of a container that waits to be restarted the kubelet gives the last run's log without being asked for it.
    """
    if is_ready(pod):
        for status in pod.status.container_statuses:
            yield Run(pod, status.name)
            if is_flapping(status, now):
                yield Run(pod, status.name, previous=True)
        return
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        if has_run(status) and not is_well(status):
            yield Run(pod, status.name)
            if status.restart_count and status.state.running:
                yield Run(pod, status.name, previous=True)
