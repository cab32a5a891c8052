"""Facts for what is no workload: a node, an operand, the whole cluster. Get and list only, and logs of sick operands.

Of finished pods only the failed ones are read: what the kubelet refused stays behind as such.
"""

import asyncio
import datetime as dt
from collections.abc import Awaitable, Mapping
from itertools import chain
from typing import Any, Final

from lockgate.collect.live import Access, connect, kinded
from lockgate.collect.neighbours import NEIGHBOURS, read_neighbours
from lockgate.collect.once import run_once
from lockgate.collect.operand_logs import read_runs, wanted_runs
from lockgate.collect.plugin_config import read_plugin_config
from lockgate.collect.reader import Reader
from lockgate.kube import resources as kinds
from lockgate.model.facts import Missing, Snapshot

_ALIVE: Final = "status.phase!=Succeeded,status.phase!=Failed"
_WAITING: Final = "spec.nodeName=,status.phase=Pending"
_FAILED: Final = "status.phase=Failed"
_WARNINGS: Final = "type=Warning"
_MOST_LOGS: Final = 200  # runs of containers


def from_cluster_wide(access: Access, kind: str, name: str) -> Snapshot:
    """What the cluster says now about a Node, an Operand, a Namespace or itself (`Cluster`).

    Raises `kube.errors.Unreachable` when there is no answer; what may not be read is Missing.
    """
    return run_once(_read(access, kind, name))


async def _read(access: Access, kind: str, name: str) -> Snapshot:
    api = connect(access)
    async with api:
        read = Reader(api)
        sections = _sections(read, kind, name)
        answers = await asyncio.gather(*sections.values())
        found = dict(zip(sections, answers, strict=True))
        if kind == "Node" and not found["nodes"]:
            found["nodes"] = await read.list(kinds.NODES)  # so that near names can be told
        found["logs"] = await _sick_logs(read, found)
        found["config_maps"] = await read_plugin_config(read, found)
    return Snapshot(taken_at=dt.datetime.now(dt.UTC).replace(microsecond=0), **found)


def _sections(read: Reader, kind: str, name: str) -> dict[str, Awaitable[Any]]:
    match kind:
        case "Node":
            return _around_node(read, name)
        case "Namespace":
            return _in_namespace(read, name)
        case _:
            return _everywhere(read, workloads=kind == "Cluster")


def _in_namespace(read: Reader, namespace: str) -> dict[str, Awaitable[Any]]:
    """All nodes and what runs on them, since its pods compete with others, and everything of the namespace itself."""
    return {
        "nodes": read.list(kinds.NODES),
        "node_states": read.list(kinds.GPUNODESTATES),
        "pods": read.list(kinds.PODS, field_selector=_ALIVE),
        "namespace_pods": read.list(kinds.PODS, namespace),
        **_shared(read, namespace),
        **_workloads(read, namespace),
        **read_neighbours(read, NEIGHBOURS, namespace),
    }


def _around_node(read: Reader, node: str) -> dict[str, Awaitable[Any]]:
    on_node = f"spec.nodeName={node}"
    return {
        "nodes": _one(read, kinds.NODES, node),
        "node_states": _one(read, kinds.GPUNODESTATES, node),
        "pods": _on_or_waiting(read, on_node),
        "namespace_pods": read.list(kinds.PODS, field_selector=f"{on_node},{_FAILED}"),
        **_shared(read),
        **read_neighbours(read, ("resource_slices", "node_claims")),
    }


def _everywhere(read: Reader, *, workloads: bool) -> dict[str, Awaitable[Any]]:
    return {
        "nodes": read.list(kinds.NODES),
        "node_states": read.list(kinds.GPUNODESTATES),
        "pods": read.list(kinds.PODS, field_selector=_ALIVE),
        "namespace_pods": read.list(kinds.PODS, field_selector=_FAILED),
        **_shared(read),
        "nvidia_drivers": read.list(kinds.NVIDIADRIVERS),
        **(_workloads(read) if workloads else {}),
        **(read_neighbours(read, NEIGHBOURS) if workloads else {}),
    }


def _shared(read: Reader, namespace: str | None = None) -> dict[str, Awaitable[Any]]:
    return {
        "events": read.list(kinds.EVENTS, namespace, field_selector=_WARNINGS),
        "daemon_sets": read.list(kinds.DAEMONSETS),
        "runtime_classes": read.list(kinds.RUNTIMECLASSES),
        "cluster_policies": read.list(kinds.CLUSTERPOLICIES),
    }


def _workloads(read: Reader, namespace: str | None = None) -> dict[str, Awaitable[Any]]:
    return {
        "namespaces": read.list(kinds.NAMESPACES),
        "resource_quotas": read.list(kinds.RESOURCEQUOTAS, namespace),
        "persistent_volume_claims": read.list(kinds.PERSISTENTVOLUMECLAIMS, namespace),
        "deployments": _kinded(read, kinds.DEPLOYMENTS, namespace),
        "replica_sets": _kinded(read, kinds.REPLICASETS, namespace),
        "stateful_sets": _kinded(read, kinds.STATEFULSETS, namespace),
        "jobs": _kinded(read, kinds.JOBS, namespace),
    }


async def _on_or_waiting(read: Reader, on_node: str) -> Any:
    """The pods of a node, and those that wait for any: whether somebody waits tells a cordon from a fault."""
    there, waiting = await asyncio.gather(
        read.list(kinds.PODS, field_selector=f"{on_node},{_ALIVE}"),
        read.list(kinds.PODS, field_selector=_WAITING),
    )
    lacking = next((answer for answer in (there, waiting) if isinstance(answer, Missing)), None)
    return lacking or (*there, *waiting)


async def _one(read: Reader, resource: kinds.Resource[Any], name: str) -> Any:
    found = await read.get(resource, name)
    return found if isinstance(found, Missing) else () if found is None else (found,)


async def _kinded(read: Reader, resource: kinds.Resource[Any], namespace: str | None) -> Any:
    found = await read.list(resource, namespace)
    return found if isinstance(found, Missing) else tuple(kinded(each, resource.kind) for each in found)


# --- the logs of operands that are not well


async def _sick_logs(read: Reader, found: Mapping[str, Any]) -> Any:
    pods = chain(_listed(found["pods"]), _listed(found["namespace_pods"]))
    runs = wanted_runs(pods, _listed(found["nodes"]), _MOST_LOGS, dt.datetime.now(dt.UTC))
    return await read_runs(read, runs)


def _listed(section: Any) -> tuple[Any, ...]:
    return () if isinstance(section, Missing) else section
