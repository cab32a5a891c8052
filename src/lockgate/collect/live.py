"""Facts of a live cluster: get and list only, and only what the target needs. What may not be read is Missing."""

import asyncio
import datetime as dt
import re
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from lockgate.collect.errors import InputError
from lockgate.collect.reader import Reader
from lockgate.kube import resources as kinds
from lockgate.kube.api import Api
from lockgate.model import names
from lockgate.model.facts import Log, Missing, Pods, Snapshot
from lockgate.model.objects import DaemonSet, Node, Pod, Resource, Workload

T = TypeVar("T", bound=Resource)
_NUMBER = r"(\d+(?:\.\d+)?)"
_DURATION = re.compile(rf"(?:{_NUMBER}h)?(?:{_NUMBER}m(?!s))?(?:{_NUMBER}s)?(?:{_NUMBER}ms)?")
_ALIVE: Final = "status.phase!=Succeeded,status.phase!=Failed"
_MOST_PLUGINS: Final = 3
_KINDS: Final[dict[str, kinds.Resource[Any]]] = {
    "Pod": kinds.PODS,
    "Deployment": kinds.DEPLOYMENTS,
    "ReplicaSet": kinds.REPLICASETS,
    "StatefulSet": kinds.STATEFULSETS,
    "DaemonSet": kinds.DAEMONSETS,
    "Job": kinds.JOBS,
}
_SECTIONS: Final = {
    "Deployment": "deployments",
    "ReplicaSet": "replica_sets",
    "StatefulSet": "stateful_sets",
    "DaemonSet": "daemon_sets",
    "Job": "jobs",
}


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
    return asyncio.run(_from_cluster(access, kind, name, namespace))


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


async def _from_cluster(access: Access, kind: str, name: str, namespace: str) -> Snapshot:
    api = connect(access)
    async with api:
        return await _Look(api, namespace or api.namespace or "default").at(kind, name)


class _Look:
    """One look at a cluster, from one namespace."""

    def __init__(self, api: Api, namespace: str) -> None:
        self._read, self._namespace = Reader(api), namespace

    async def at(self, kind: str, name: str) -> Snapshot:
        found, own = await self._pod(name) if kind == "Pod" else await self._workload(kind, name)
        if own is not None:
            found |= await self._around(own)
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
        section, resource = _SECTIONS[kind], _KINDS[kind]
        workload = await self._read.target(resource, name, self._namespace)
        if workload is None:
            return {section: await self._read.list(resource, self._namespace), "namespace_pods": ()}, None
        return await self._below(kind, section, workload)

    async def _below(self, kind: str, section: str, workload: Workload | DaemonSet) -> tuple[dict[str, Any], Pods]:
        """A workload's pods, the controllers between, and what may refuse its pods."""
        sets, pods, quotas = await asyncio.gather(
            self._read.list(kinds.REPLICASETS, self._namespace) if kind == "Deployment" else _nothing(),
            self._read.list(kinds.PODS, self._namespace),
            self._read.list(kinds.RESOURCEQUOTAS, self._namespace),
        )
        found = {"namespace_pods": pods, "resource_quotas": quotas, section: (kinded(workload, kind),)}
        if kind == "Deployment":
            found["replica_sets"] = sets if isinstance(sets, Missing) else tuple(kinded(s, "ReplicaSet") for s in sets)
        owners = [workload.name, *(s.name for s in _owned(found.get("replica_sets", ()), {workload.name}))]
        own = _owned(pods, set(owners))
        return {**found, "events": await self._events([*owners, *(pod.name for pod in own)])}, own

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
            "cluster_policies": self._read.list(kinds.CLUSTERPOLICIES),
            "persistent_volume_claims": self._read.list(kinds.PERSISTENTVOLUMECLAIMS, self._namespace),
            "logs": self._logs(pods),
        }
        answers = await asyncio.gather(*sections.values())
        found = dict(zip(sections, answers, strict=True))
        return found | {"logs": await self._with_plugin_logs(found)}

    async def _with_plugin_logs(self, found: dict[str, Any]) -> Any:
        """The logs, and those of device plugins on nodes that offer no GPU: what a plugin died of is only there."""
        if any(isinstance(found[name], Missing) for name in ("logs", "nodes", "pods")):
            return found["logs"]
        idle = {node.name for node in found["nodes"] if not _offers_gpus(node)}
        plugins = [p for p in found["pods"] if "device-plugin" in p.name and p.spec.node_name in idle][:_MOST_PLUGINS]
        runs = [
            (p, s.name, previous)
            for p in plugins
            for s in (*p.status.init_container_statuses, *p.status.container_statuses)
            for previous in ((False, True) if s.restart_count else (False,))
            if s.state.running or s.state.terminated or previous
        ]
        answers = await asyncio.gather(*(self._read.log(pod, container, previous) for pod, container, previous in runs))
        return (*found["logs"], *(a for a in answers if isinstance(a, Log)))

    async def _pods_on(self, nodes: Sequence[str]) -> Any:
        answers = [await self._read.list(kinds.PODS, field_selector=f"spec.nodeName={node},{_ALIVE}") for node in nodes]
        missing = next((a for a in answers if isinstance(a, Missing)), None)
        return missing or tuple(pod for answer in answers for pod in answer)

    async def _named(self, resource: kinds.Resource[Any], wanted: Sequence[str]) -> Any:
        answers = await asyncio.gather(*(self._read.get(resource, name) for name in wanted))
        missing = next((a for a in answers if isinstance(a, Missing)), None)
        return missing or tuple(a for a in answers if a is not None)

    async def _logs(self, pods: Sequence[Pod]) -> Any:
        """The tail of the logs of one pod's containers that run or have run."""
        started = [
            (p, s.name) for p in pods[:1] for s in p.status.container_statuses if s.state.running or s.state.terminated
        ]
        answers = [await self._read.log(pod, container) for pod, container in started]
        missing = next((a for a in answers if isinstance(a, Missing)), None)
        return missing or tuple(answers)


async def _nothing() -> tuple[()]:
    return ()


def _offers_gpus(node: Node) -> bool:
    return any(names.is_gpu_resource(name) and count != "0" for name, count in node.status.allocatable.items())


def kinded(found: Any, kind: str) -> Any:
    """API lists leave the kind of their items out."""
    return msgspec.structs.replace(found, kind=kind) if isinstance(found, Workload) else found


def _owned(found: Any, owners: set[str]) -> tuple[Any, ...]:
    """Those of a section that name one of the owners; none where the section is missing."""
    if isinstance(found, Missing):
        return ()
    return tuple(each for each in found if any(r.name in owners for r in each.metadata.owner_references))
