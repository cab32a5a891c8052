"""Facts of systems that stand beside NVIDIA's stack: resource claims, Kueue, gang schedulers, Karpenter, limit ranges.

A cluster has them or not, and in one version or another: of each kind the newest version that is served is read, and
groups that define the same kind are put together. What is not served, or may not be read, is Missing as any section.
"""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from lockgate.collect.reader import Reader, is_unknown, unknown
from lockgate.kube import resources as kinds
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.objects import DaemonSet, Event, Node, Pod, Workload

_Versions = tuple[kinds.Resource[Any], ...]  # of one kind, the newest first
_QUEUE: Final = "kueue.x-k8s.io/"
_GROUP: Final = "group-name"
_KARPENTER: Final = "karpenter.sh/nodepool"
_CLAIMS: Final = ("device_classes", "resource_claims", "resource_slices")
_BOUND: Final = " usage per "  # how a LimitRange refuses
_DEFAULT_SCHEDULER: Final = ("", "default-scheduler")


def _older(resource: kinds.Resource[Any], *versions: str) -> _Versions:
    return (resource, *(replace(resource, version=version) for version in versions))


# Section -> the kinds that fill it, of each its versions.
NEIGHBOURS: Final[Mapping[str, tuple[_Versions, ...]]] = {
    "limit_ranges": ((kinds.LIMITRANGES,),),
    "priority_classes": ((kinds.PRIORITYCLASSES,),),
    "device_classes": (_older(kinds.DEVICECLASSES, "v1beta2", "v1beta1"),),
    "resource_claims": (_older(kinds.RESOURCECLAIMS, "v1beta2", "v1beta1"),),
    "resource_slices": (_older(kinds.RESOURCESLICES, "v1beta2", "v1beta1"),),
    "queued_workloads": ((replace(kinds.QUEUEDWORKLOADS, version="v1beta2"), kinds.QUEUEDWORKLOADS),),
    "pod_groups": ((kinds.VOLCANO_PODGROUPS,), (kinds.KAI_PODGROUPS,)),
    "node_claims": ((kinds.NODECLAIMS,),),
}


def read_neighbours(read: Reader, sections: Iterable[str], namespace: str | None = None) -> dict[str, Awaitable[Any]]:
    """What to wait for, by section."""
    return {section: read_neighbour(read, section, namespace) for section in sections}


async def read_neighbour(read: Reader, section: str, namespace: str | None = None) -> Any:
    """One section; Missing where none of its kinds can be read."""
    answers = [await _newest(read, versions, namespace) for versions in NEIGHBOURS[section]]
    found = [answer for answer in answers if not isinstance(answer, Missing)]
    if found:
        return tuple(each for answer in found for each in answer)
    return next((answer for answer in answers if not is_unknown(answer)), answers[0])


async def _newest(read: Reader, versions: _Versions, namespace: str | None) -> Any:
    for resource in versions:
        if await read.serves(resource):
            return await read.list(resource, namespace)
    return unknown(versions[0])


# --- which of them matter to some pods


async def beside(read: Reader, namespace: str, pods: Sequence[Pod], found: Mapping[str, Any]) -> dict[str, Any]:
    """The sections that the diagnosis of some pods needs beyond the usual ones, decided by what is known of them."""
    wanted = [section for section, needed in _needed(pods, found) if needed]
    reading = read_neighbours(read, wanted, namespace)
    answers = await asyncio.gather(*reading.values(), _operand_events(read, found))
    sections: dict[str, Any] = dict(zip(reading, answers, strict=False))
    if answers[-1]:
        sections["events"] = (*found["events"], *answers[-1])
    return sections


def _needed(pods: Sequence[Pod], found: Mapping[str, Any]) -> Iterable[tuple[str, bool]]:
    waiting = any(not p.spec.node_name for p in pods) or not pods
    nodes: Sequence[Node] = _there(found, "nodes")
    claims = any(p.spec.resource_claims for p in pods) or (waiting and not any(map(_offers_gpus, nodes)))
    yield from ((section, claims) for section in _CLAIMS)
    yield "queued_workloads", any(map(_is_queued, pods)) or any(map(_is_queued, _targets(found)))
    unmade = not pods and bool(_there(found, "custom_owners"))  # Volcano makes the pods of an admitted group only
    yield "pod_groups", unmade or any(map(_is_grouped, pods))
    yield "node_claims", waiting and any(_KARPENTER in n.metadata.labels for n in nodes)
    yield "limit_ranges", any(_BOUND in e.text for e in _there(found, "events"))
    yield "priority_classes", any("PriorityClass" in e.text for e in _there(found, "events"))


def _there(found: Mapping[str, Any], section: str) -> Any:
    objects = found.get(section, ())
    return () if isinstance(objects, Missing) else objects


def _targets(found: Mapping[str, Any]) -> list[Workload]:
    sections = ("deployments", "replica_sets", "stateful_sets", "jobs", "custom_owners")
    return [o for section in sections for o in _there(found, section)]


def _is_queued(it: Pod | Workload) -> bool:
    gates = it.spec.scheduling_gates if isinstance(it, Pod) else ()
    return any(g.name.startswith(_QUEUE) for g in gates) or any(k.startswith(_QUEUE) for k in it.metadata.labels)


def _is_grouped(pod: Pod) -> bool:
    named = any(key.endswith(_GROUP) for key in pod.metadata.annotations)
    return named or pod.spec.scheduler_name not in _DEFAULT_SCHEDULER


def _offers_gpus(node: Node) -> bool:
    return any(names.is_gpu_resource(name) and count != "0" for name, count in node.status.allocatable.items())


async def _operand_events(read: Reader, found: Mapping[str, Any]) -> tuple[Event, ...]:
    """The events of device plugins' DaemonSets that lack pods: what refuses them is told nowhere else."""
    if isinstance(found.get("events", Missing("")), Missing):
        return ()
    lacking = [ds for ds in _there(found, "daemon_sets") if "device-plugin" in ds.name and _lacks_pods(ds)]
    answers = [
        await read.list(kinds.EVENTS, ds.namespace, field_selector=f"involvedObject.name={ds.name}") for ds in lacking
    ]
    return tuple(event for answer in answers if not isinstance(answer, Missing) for event in answer)


def _lacks_pods(daemon_set: DaemonSet) -> bool:
    return daemon_set.status.current_number_scheduled < daemon_set.status.desired_number_scheduled
