"""One workload of the cluster as a manifest, and what manifests are judged against: nodes and RuntimeClasses."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import msgspec

from lockgate.collect.live import Access, parse_timeout
from lockgate.collect.once import run_once
from lockgate.collect.reader import Reader
from lockgate.kube import resources as kinds
from lockgate.kube.api import Api
from lockgate.model.facts import Missing, Nodes, RuntimeClasses
from lockgate.model.node_state import NodeStanding

_KINDS: Final = {
    "Pod": kinds.PODS,
    "Deployment": kinds.DEPLOYMENTS,
    "ReplicaSet": kinds.REPLICASETS,
    "StatefulSet": kinds.STATEFULSETS,
    "DaemonSet": kinds.DAEMONSETS,
    "Job": kinds.JOBS,
    "CronJob": kinds.CRONJOBS,
}


class Against(msgspec.Struct, frozen=True):
    """What the cluster says; a section that may not be read is Missing."""

    nodes: Nodes | Missing
    runtime_classes: RuntimeClasses | Missing
    standings: tuple[NodeStanding, ...] | Missing


def read_against(access: Access) -> Against:
    """The cluster's side alone. Raises ConfigError, Unreachable."""
    return run_once(_against(access))


def read_workload(access: Access, kind: str, namespace: str, name: str) -> tuple[dict[str, Any], Against]:
    """One object with every field, and the cluster's side. Raises ApiError (NotFound, ...), Unreachable."""
    return run_once(_workload(access, kind, namespace, name))


async def _workload(access: Access, kind: str, namespace: str, name: str) -> tuple[dict[str, Any], Against]:
    resource = _KINDS[kind]
    async with _connected(access) as api:
        where = namespace or api.namespace
        found = await api.get_manifest(resource, name, where)
        return {"apiVersion": resource.api_version, "kind": resource.kind, **_bare(found)}, await _sides(Reader(api))


def _bare(found: dict[str, Any]) -> dict[str, Any]:
    """Without what others than its author wrote about it, and without a copy of itself."""
    metadata = {name: value for name, value in found.get("metadata", {}).items() if name != "managedFields"}
    notes = {n: v for n, v in metadata.pop("annotations", {}).items() if not n.startswith("kubectl.kubernetes.io/")}
    metadata |= {"annotations": notes} if notes else {}
    phase = found.get("status", {}).get("phase")
    rest = {name: value for name, value in found.items() if name not in ("metadata", "status", "apiVersion", "kind")}
    return {"metadata": metadata, **rest, **({"status": {"phase": phase}} if phase else {})}


async def _against(access: Access) -> Against:
    async with _connected(access) as api:
        return await _sides(Reader(api))


async def _sides(reader: Reader) -> Against:
    nodes, classes, standings = await asyncio.gather(
        reader.list(kinds.NODES), reader.list(kinds.RUNTIMECLASSES), reader.list(kinds.NODE_STANDINGS)
    )
    return Against(nodes, classes, standings)


@asynccontextmanager
async def _connected(access: Access) -> AsyncIterator[Api]:
    api = Api.connect(
        kubeconfig=Path(access.kubeconfig) if access.kubeconfig else None,
        context=access.context,
        as_user=access.as_user,
        as_groups=access.as_groups,
        timeout=parse_timeout(access.request_timeout),
    )
    async with api:
        yield api
