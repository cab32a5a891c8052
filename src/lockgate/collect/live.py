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
from lockgate.kube import resources as kinds
from lockgate.kube.api import Api
from lockgate.kube.errors import ApiError, Forbidden, NotFound
from lockgate.model import names
from lockgate.model.facts import Log, Missing, Snapshot
from lockgate.model.objects import DaemonSet, Node, Pod, Resource, Workload

T = TypeVar("T", bound=Resource)
_NUMBER = r"(\d+(?:\.\d+)?)"
_DURATION = re.compile(rf"(?:{_NUMBER}h)?(?:{_NUMBER}m(?!s))?(?:{_NUMBER}s)?(?:{_NUMBER}ms)?")
_ALIVE: Final = "status.phase!=Succeeded,status.phase!=Failed"
_LOG_LINES: Final = 50
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


async def _from_cluster(access: Access, kind: str, name: str, namespace: str) -> Snapshot:
    api = Api.connect(
        kubeconfig=Path(access.kubeconfig) if access.kubeconfig else None,
        context=access.context,
        as_user=access.as_user,
        as_groups=access.as_groups,
        timeout=parse_timeout(access.request_timeout),
    )
    async with api:
        return await _Look(api, namespace or api.namespace or "default").at(kind, name)


class _Look:
    """One look at a cluster, from one namespace."""

    def __init__(self, api: Api, namespace: str) -> None:
        self._api, self._namespace = api, namespace

    async def at(self, kind: str, name: str) -> Snapshot:
        found = await self._pod(name) if kind == "Pod" else await self._workload(kind, name)
        pods = found["namespace_pods"]
        if not isinstance(pods, Missing):
            found |= await self._around(pods)
        return Snapshot(taken_at=dt.datetime.now(dt.UTC).replace(microsecond=0), **found)

    # --- the target

    async def _pod(self, name: str) -> dict[str, Any]:
        """The pod itself; when it is not there, its namespace, so that near names can be told."""
        pod = await self._target(kinds.PODS, name)
        if pod is None:
            return {"namespace_pods": await self._list(kinds.PODS, self._namespace)}
        events = await self._events([name])
        return {"namespace_pods": (pod,), "events": events}

    async def _workload(self, kind: str, name: str) -> dict[str, Any]:
        section, resource = _SECTIONS[kind], _KINDS[kind]
        workload = await self._target(resource, name)
        if workload is None:
            return {section: await self._list(resource, self._namespace), "namespace_pods": ()}
        return await self._below(kind, section, workload)

    async def _below(self, kind: str, section: str, workload: Workload | DaemonSet) -> dict[str, Any]:
        """A workload's pods, the controllers between, and what may refuse its pods."""
        sets, pods, quotas = await asyncio.gather(
            self._list(kinds.REPLICASETS, self._namespace) if kind == "Deployment" else _nothing(),
            self._list(kinds.PODS, self._namespace),
            self._list(kinds.RESOURCEQUOTAS, self._namespace),
        )
        found = {"namespace_pods": pods, "resource_quotas": quotas, section: (_kinded(workload, kind),)}
        if kind == "Deployment":
            found["replica_sets"] = sets if isinstance(sets, Missing) else tuple(_kinded(s, "ReplicaSet") for s in sets)
        about = [workload.name, *_names_below(workload.name, found.get("replica_sets", ()), pods)]
        return {**found, "events": await self._events(about)}

    async def _events(self, about: Iterable[str]) -> Any:
        """The events about some objects of the namespace; asked one by one, since a namespace may hold thousands."""
        wanted = list(dict.fromkeys(about))[:30]
        answers = await asyncio.gather(*(self._events_about(name) for name in wanted))
        missing = next((a for a in answers if isinstance(a, Missing)), None)
        return missing or tuple(event for answer in answers for event in answer)

    async def _events_about(self, name: str) -> Any:
        return await self._list(kinds.EVENTS, self._namespace, field_selector=f"involvedObject.name={name}")

    # --- what is around it

    async def _around(self, pods: Sequence[Pod]) -> dict[str, Any]:
        """What the diagnosis of some pods needs: all nodes while one has none, else the nodes that they are on."""
        bound = sorted({p.spec.node_name for p in pods if p.spec.node_name})
        placed = bool(pods) and all(p.spec.node_name for p in pods) and len(bound) <= 3
        sections: dict[str, Awaitable[Any]] = {
            "nodes": self._named(kinds.NODES, bound) if placed else self._list(kinds.NODES),
            "pods": self._pods_on(bound) if placed else self._list(kinds.PODS, field_selector=_ALIVE),
            "node_states": self._named(kinds.GPUNODESTATES, bound) if placed else self._list(kinds.GPUNODESTATES),
            "daemon_sets": self._list(kinds.DAEMONSETS),
            "runtime_classes": self._list(kinds.RUNTIMECLASSES),
            "cluster_policies": self._list(kinds.CLUSTERPOLICIES),
            "persistent_volume_claims": self._list(kinds.PERSISTENTVOLUMECLAIMS, self._namespace),
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
        answers = await asyncio.gather(*(self._log(pod, container, previous) for pod, container, previous in runs))
        return (*found["logs"], *(a for a in answers if isinstance(a, Log)))

    async def _pods_on(self, nodes: Sequence[str]) -> Any:
        answers = [await self._list(kinds.PODS, field_selector=f"spec.nodeName={node},{_ALIVE}") for node in nodes]
        missing = next((a for a in answers if isinstance(a, Missing)), None)
        return missing or tuple(pod for answer in answers for pod in answer)

    async def _named(self, resource: kinds.Resource[Any], wanted: Sequence[str]) -> Any:
        answers = await asyncio.gather(*(self._get(resource, name) for name in wanted))
        missing = next((a for a in answers if isinstance(a, Missing)), None)
        return missing or tuple(a for a in answers if a is not None)

    async def _logs(self, pods: Sequence[Pod]) -> Any:
        """The tail of the logs of one pod's containers that run or have run."""
        started = [
            (p, s.name) for p in pods[:1] for s in p.status.container_statuses if s.state.running or s.state.terminated
        ]
        answers = [await self._log(pod, container) for pod, container in started]
        missing = next((a for a in answers if isinstance(a, Missing)), None)
        return missing or tuple(answers)

    async def _log(self, pod: Pod, container: str, previous: bool = False) -> Log | Missing:
        place = (pod.namespace, pod.name, container)
        try:
            text = await self._api.logs(*place, previous=previous, tail=_LOG_LINES, limit_bytes=64 * 1024)
        except ApiError as error:
            return _missing(error, f"RBAC: get on pods/log in namespace {pod.namespace}")
        return Log(*place, text, previous)

    # --- one request

    async def _target(self, resource: kinds.Resource[T], name: str) -> T | None:
        """The target, None when there is none; without permission for it there is no diagnosis at all."""
        try:
            return await self._api.get(resource, name, self._namespace)
        except NotFound:
            return None

    async def _get(self, resource: kinds.Resource[T], name: str, namespace: str | None = None) -> Any:
        """One object, None when there is none, Missing when it may not be read."""
        try:
            return await self._api.get(resource, name, namespace)
        except NotFound as error:
            return _unknown(resource) if error.unknown_kind else None
        except Forbidden as error:
            return _missing(error, _permission("get", resource, namespace))

    async def _list(self, resource: kinds.Resource[T], namespace: str | None = None, field_selector: str = "") -> Any:
        """A list, or Missing when it may not be read or the cluster does not know the kind."""
        try:
            return tuple(await self._api.list(resource, namespace, field_selector=field_selector))
        except NotFound:
            return _unknown(resource)
        except Forbidden as error:
            return _missing(error, _permission("list", resource, namespace))


async def _nothing() -> tuple[()]:
    return ()


def _offers_gpus(node: Node) -> bool:
    return any(names.is_gpu_resource(name) and count != "0" for name, count in node.status.allocatable.items())


def _kinded(found: Any, kind: str) -> Any:
    """API lists leave the kind of their items out."""
    return msgspec.structs.replace(found, kind=kind) if isinstance(found, Workload) else found


def _names_below(owner: str, sets: Any, pods: Any) -> list[str]:
    """The names of the controllers and pods that a workload owns, by their owner references."""
    below = [] if isinstance(sets, Missing) else [s.name for s in sets if _owned(s, {owner})]
    owned = [] if isinstance(pods, Missing) else [p.name for p in pods if _owned(p, {owner, *below})]
    return [*below, *owned]


def _owned(found: Any, owners: set[str]) -> bool:
    return any(reference.name in owners for reference in found.metadata.owner_references)


def _missing(error: ApiError, how: str) -> Missing:
    return Missing(str(error), how)


def _unknown(resource: kinds.Resource[Any]) -> Missing:
    return Missing(
        f"the cluster does not know {resource.plural}",
        f"install what defines {resource.kind} of {resource.api_version}",
    )


def _permission(verb: str, resource: kinds.Resource[Any], namespace: str | None) -> str:
    group = f".{resource.group}" if resource.group else ""
    scope = f" in namespace {namespace}" if namespace else " in the whole cluster" if resource.namespaced else ""
    return f"RBAC: {verb} on {resource.plural}{group}{scope}"
