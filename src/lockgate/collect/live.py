"""Facts of a live cluster: get and list only, and only what the target needs. What may not be read is Missing."""

import asyncio
import datetime as dt
import re
from collections.abc import Awaitable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from lockgate.collect.custom_owner import parse_owner
from lockgate.collect.errors import InputError
from lockgate.collect.neighbours import beside
from lockgate.collect.once import run_once
from lockgate.collect.operand_logs import offers_its_gpus, own_runs, read_runs, wanted_runs
from lockgate.collect.plugin_config import read_plugin_config
from lockgate.collect.reader import Reader
from lockgate.kube import resources as kinds
from lockgate.kube.api import Api
from lockgate.kube.discovery import Kinds, discover
from lockgate.kube.errors import Forbidden, NotFound
from lockgate.model.facts import BY_KIND, Missing, Pods, Snapshot
from lockgate.model.objects import ContainerStatus, Pod, Resource, Workload

T = TypeVar("T", bound=Resource)
_NUMBER = r"(\d+(?:\.\d+)?)"
_DURATION = re.compile(rf"(?:{_NUMBER}h)?(?:{_NUMBER}m(?!s))?(?:{_NUMBER}s)?(?:{_NUMBER}ms)?")
_ALIVE: Final = "status.phase!=Succeeded,status.phase!=Failed"
_MOST_PODS: Final = 3  # of those asked about, whose logs are read
_MOST_RUNS: Final = 12  # of operands' containers, whose logs are read
_OWNING: Final = tuple(BY_KIND[kind].section for kind in kinds.WORKLOADS if kind != "Pod")
# Kinds between a workload and its pods; a custom owner may have any of them between.
_BETWEEN: Final = {"Deployment": ("ReplicaSet",), "CronJob": ("Job",)}
_UNDER_CUSTOM: Final = ("Deployment", "ReplicaSet", "StatefulSet", "Job")
_MOST_OWNERS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How to reach the cluster, in kubectl's terms; `request_timeout` as kubectl's (`30s`, `1m`, `0` for none)."""

    kubeconfig: str | None = None
    context: str | None = None
    as_user: str | None = None
    as_groups: Sequence[str] = ()
    request_timeout: str = "30s"


def from_cluster(access: Access, kind: str, name: str, namespace: str) -> Snapshot:
    """What the cluster says now about one object and all that its diagnosis may need.

    Raises `kube.errors.Unreachable` when there is no answer, and ApiErrors: Forbidden only for the object itself.
    """
    return run_once(_from_cluster(access, kind, name, namespace))


def parse_timeout(text: str) -> float:
    """kubectl's durations in seconds; `0` means none. Raises InputError for anything else."""
    found = _DURATION.fullmatch(f"{text}s" if text.strip().isdecimal() else text.strip())
    if found is None or not any(found.groups()):
        raise InputError(f'--request-timeout "{text}" is no duration: expected for example 30s, 1m or 0')
    seconds = sum(float(n or 0) * unit for n, unit in zip(found.groups(), (3600.0, 60.0, 1.0, 0.001), strict=True))
    return seconds or 24 * 3600.0


def connect(access: Access) -> Api:
    """A door to the cluster; raises `kube.errors.Unreachable` where the configuration names none."""
    return Api.connect(
        kubeconfig=Path(access.kubeconfig) if access.kubeconfig else None,
        context=access.context,
        as_user=access.as_user,
        as_groups=access.as_groups,
        timeout=parse_timeout(access.request_timeout),
    )


def namespace_of(access: Access) -> str:
    """The namespace that kubectl would take where none is named."""
    return connect(access).namespace or "default"


async def _from_cluster(access: Access, kind: str, name: str, namespace: str) -> Snapshot:
    async with connect(access) as api:
        return await look(api, kind, name, namespace)


async def look(api: Api, kind: str, name: str, namespace: str) -> Snapshot:
    """As `from_cluster`, over a connection that is there."""
    return await _Look(api, namespace or api.namespace or "default").at(kind, name)


class _Look:
    """One look at a cluster, from one namespace."""

    def __init__(self, api: Api, namespace: str) -> None:
        self._api, self._read, self._namespace = api, Reader(api), namespace

    async def at(self, kind: str, name: str) -> Snapshot:
        match kind:
            case "Pod":
                found, own = await self._pod(name)
            case _ if kind in kinds.WORKLOADS:
                found, own = await self._workload(kind, name)
            case _:
                found, own = await self._custom(kind, name)
        if own is not None:
            found |= await self._around(own)
            found |= await beside(self._read, self._namespace, own, found)
            found["config_maps"] = await read_plugin_config(self._read, found)
        return Snapshot(taken_at=dt.datetime.now(dt.UTC).replace(microsecond=0), **found)

    # --- the target: its sections, and its pods (None when it is not there)

    async def _pod(self, name: str) -> tuple[dict[str, Any], Pods | None]:
        """The pod itself; when it is not there, its namespace, so that near names can be told."""
        pod = await self._read.target(kinds.PODS, name, self._namespace)
        if pod is None:
            return {"namespace_pods": await self._read.list(kinds.PODS, self._namespace)}, None
        events = await self._events([name])
        return {"namespace_pods": (pod,), "events": events}, (pod,)

    async def _workload(self, kind: str, name: str) -> tuple[dict[str, Any], Pods | None]:
        section, resource = BY_KIND[kind].section, kinds.WORKLOADS[kind]
        workload = await self._read.target(resource, name, self._namespace)
        if workload is None:
            return {section: await self._read.list(resource, self._namespace), "namespace_pods": ()}, None
        return await self._below(kind, section, workload)

    async def _below(self, kind: str, section: str, workload: Resource) -> tuple[dict[str, Any], Pods]:
        """A workload's pods, the controllers between, and what may refuse its pods."""
        found = await self._namespaced(_BETWEEN.get(kind, ())) | {section: (kinded(workload, kind),)}
        return await self._with_events(found, workload)

    async def _namespaced(self, between: Sequence[str]) -> dict[str, Any]:
        """The pods and quotas of the namespace, and its objects of some kinds."""
        resources = (kinds.PODS, kinds.RESOURCEQUOTAS, *(kinds.WORKLOADS[kind] for kind in between))
        pods, quotas, *lists = await asyncio.gather(*(self._read.list(r, self._namespace) for r in resources))
        found = {"namespace_pods": pods, "resource_quotas": quotas}
        for kind, listed in zip(between, lists, strict=True):
            found[BY_KIND[kind].section] = (
                listed if isinstance(listed, Missing) else tuple(kinded(o, kind) for o in listed)
            )
        return found

    async def _with_events(self, found: dict[str, Any], top: Resource) -> tuple[dict[str, Any], Pods]:
        owners, own = _family(found, top)
        return {**found, "events": await self._events([*owners, *(pod.name for pod in own)])}, own

    # --- an owner of a kind that no section holds

    async def _custom(self, kind: str, name: str) -> tuple[dict[str, Any], Pods | None]:
        known = await discover(self._api)
        resource = known.find(kind)
        if resource is None:
            return {"custom_owners": Missing(f'the cluster knows no kind "{kind}"')}, None
        top = await self._owner(resource, name)
        if top is None:
            near = await self._read.list(resource, self._namespace)
            others = () if isinstance(near, Missing) else tuple(_named(resource.kind, each) for each in near)
            return {"custom_owners": others, "namespace_pods": ()}, None
        found = await self._namespaced(_UNDER_CUSTOM)
        found["custom_owners"] = (top, *await self._owners_between(known, found, top))
        return await self._with_events(found, top)

    async def _owner(self, resource: kinds.Resource[Any], name: str) -> Workload | None:
        try:
            raw = await self._api.get_manifest(resource, name, self._namespace)
        except NotFound:
            return None
        return parse_owner(f"{resource.kind} {name}", raw)

    async def _owners_between(self, known: Kinds, found: dict[str, Any], top: Workload) -> tuple[Workload, ...]:
        """Owners of other custom kinds that stand between (the RayCluster of a RayJob)."""
        children = [c for objects in found.values() if not isinstance(objects, Missing) for c in objects]
        named = {(r.api_version, r.kind, r.name) for c in children for r in c.metadata.owner_references if r.controller}
        wanted = sorted(r for r in named if r[1] not in kinds.WORKLOADS and (r[1], r[2]) != (top.kind, top.name))
        between = []
        for version, kind, name in wanted[:_MOST_OWNERS]:
            resource = known.find(kind, version)
            with suppress(Forbidden):  # it stays a reference: what it owns is then not told as the target's
                if resource is not None and (owner := await self._owner(resource, name)):
                    between.append(owner)
        return tuple(between)

    async def _events(self, about: Iterable[str]) -> Any:
        """The events about some objects of the namespace; asked one by one, since a namespace may hold thousands."""
        wanted = list(dict.fromkeys(about))[:30]
        answers = await asyncio.gather(*(self._events_about(name) for name in wanted))
        missing = next((a for a in answers if isinstance(a, Missing)), None)
        return missing or tuple(event for answer in answers for event in answer)

    async def _events_about(self, name: str) -> Any:
        return await self._read.list(kinds.EVENTS, self._namespace, field_selector=f"involvedObject.name={name}")

    # --- what is around it

    async def _around(self, pods: Sequence[Pod]) -> dict[str, Any]:
        """What the diagnosis of some pods needs: all nodes while one has none, else the nodes that they are on."""
        bound = sorted({p.spec.node_name for p in pods if p.spec.node_name})
        placed = bool(pods) and all(p.spec.node_name for p in pods) and len(bound) <= 3
        sections: dict[str, Awaitable[Any]] = {
            "nodes": self._named(kinds.NODES, bound) if placed else self._read.list(kinds.NODES),
            "pods": self._pods_on(bound) if placed else self._read.list(kinds.PODS, field_selector=_ALIVE),
            "node_states": self._named(kinds.GPUNODESTATES, bound) if placed else self._read.list(kinds.GPUNODESTATES),
            "daemon_sets": self._read.list(kinds.DAEMONSETS),
            "runtime_classes": self._read.list(kinds.RUNTIMECLASSES),
            "namespaces": self._named(kinds.NAMESPACES, [self._namespace]),  # its labels, and what it waives
            "cluster_policies": self._read.list(kinds.CLUSTERPOLICIES),
            "persistent_volume_claims": self._read.list(kinds.PERSISTENTVOLUMECLAIMS, self._namespace),
            "logs": self._logs(pods),
        }
        answers = await asyncio.gather(*sections.values())
        found = dict(zip(sections, answers, strict=True))
        doubted = {p.spec.node_name for p in pods if any(map(_ended_badly, p.status.container_statuses))}
        return found | {"logs": await self._with_operand_logs(found, placed, doubted)}

    async def _with_operand_logs(self, found: dict[str, Any], placed: bool, doubted: Collection[str]) -> Any:
        """The logs, and those of operands that are not well on the nodes that matter: what they died of is only there.

        For a pod without a node those are the nodes that offer no GPU. `doubted` are nodes on which one of them ended.
        """
        if any(isinstance(found[name], Missing) for name in ("logs", "nodes", "pods")):
            return found["logs"]
        nodes = [node for node in found["nodes"] if placed or not offers_its_gpus(node)]
        near = {node.name for node in nodes}
        here = (pod for pod in found["pods"] if pod.spec.node_name in near)
        runs = wanted_runs(here, nodes, _MOST_RUNS, dt.datetime.now(dt.UTC), doubted)
        told = await read_runs(self._read, runs)
        return (found["logs"] or told) if isinstance(told, Missing) else (*found["logs"], *told)

    async def _pods_on(self, nodes: Sequence[str]) -> Any:
        answers = [await self._read.list(kinds.PODS, field_selector=f"spec.nodeName={node},{_ALIVE}") for node in nodes]
        missing = next((a for a in answers if isinstance(a, Missing)), None)
        return missing or tuple(pod for answer in answers for pod in answer)

    async def _named(self, resource: kinds.Resource[Any], wanted: Sequence[str]) -> Any:
        answers = await asyncio.gather(*(self._read.get(resource, name) for name in wanted))
        missing = next((a for a in answers if isinstance(a, Missing)), None)
        return missing or tuple(a for a in answers if a is not None)

    async def _logs(self, pods: Sequence[Pod]) -> Any:
        """The tails of the logs of some of the pods, of those that are not well first."""
        return await read_runs(self._read, own_runs(pods, _MOST_PODS))


def _ended_badly(status: ContainerStatus) -> bool:
    """Whether a container ended with an error, and no later run of it is well."""
    ended = status.state.terminated or status.last_state.terminated
    return ended is not None and ended.exit_code != 0 and not status.ready


def kinded(found: Any, kind: str) -> Any:
    """API lists leave the kind of their items out."""
    return msgspec.structs.replace(found, kind=kind) if isinstance(found, Workload) else found


def _named(kind: str, found: Resource) -> Workload:
    return Workload(metadata=found.metadata, kind=kind)


def _family(found: dict[str, Any], top: Resource) -> tuple[list[str], Pods]:
    """The names of an owner and of the controllers below it, and the pods of them all."""
    between = [o for name in (*_OWNING, "custom_owners") for o in _listed(found, name) if o is not top]
    owners = {top.name}
    while below := {o.name for o in between if o.name not in owners and _names_one(o, owners)}:
        owners |= below
    own = tuple(pod for pod in _listed(found, "namespace_pods") if _names_one(pod, owners))
    return [top.name, *sorted(owners - {top.name})], own


def _listed(found: dict[str, Any], section: str) -> Any:
    objects = found.get(section, ())
    return () if isinstance(objects, Missing) else objects


def _names_one(child: Resource, owners: set[str]) -> bool:
    return any(r.name in owners for r in child.metadata.owner_references)
