"""One workload of the cluster as a manifest, and what manifests are judged against: nodes and RuntimeClasses."""

import asyncio
from typing import Any

import msgspec

from lockgate.collect.live import Access, connect
from lockgate.collect.once import run_once
from lockgate.collect.reader import Reader
from lockgate.kube import resources as kinds
from lockgate.kube.api import Api
from lockgate.kube.resources import Resource
from lockgate.model.facts import Missing, Nodes, RuntimeClasses
from lockgate.model.node_state import NodeStanding


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


def read_selected(access: Access, selector: str, namespace: str | None) -> tuple[list[dict[str, Any]], Against]:
    """Every workload with some labels that nothing else made, and the cluster's side; None is all namespaces.

    "" is the namespace of the context. Raises ApiError, Unreachable.
    """
    return run_once(_selected(access, selector, namespace))


async def _workload(access: Access, kind: str, namespace: str, name: str) -> tuple[dict[str, Any], Against]:
    async with connect(access) as api:
        return await _manifest(api, kinds.WORKLOADS[kind], name, namespace or api.namespace), await _sides(Reader(api))


async def _selected(access: Access, selector: str, namespace: str | None) -> tuple[list[dict[str, Any]], Against]:
    async with connect(access) as api:
        where = api.namespace if namespace == "" else namespace
        read = [(kind, one) for kind in kinds.WORKLOADS.values() for one in await api.list(kind, where, selector)]
        own = [(kind, one.metadata) for kind, one in read if not one.metadata.owner_references]
        found = [await _manifest(api, kind, of.name, of.namespace) for kind, of in own]
        return found, await _sides(Reader(api))


async def _manifest(api: Api, resource: Resource[Any], name: str, namespace: str) -> dict[str, Any]:
    found = await api.get_manifest(resource, name, namespace)
    return {"apiVersion": resource.api_version, "kind": resource.kind, **_bare(found)}


def _bare(found: dict[str, Any]) -> dict[str, Any]:
    """Without what others than its author wrote about it, and without a copy of itself."""
    metadata = {name: value for name, value in found.get("metadata", {}).items() if name != "managedFields"}
    notes = {n: v for n, v in metadata.pop("annotations", {}).items() if not n.startswith("kubectl.kubernetes.io/")}
    metadata |= {"annotations": notes} if notes else {}
    phase = found.get("status", {}).get("phase")
    rest = {name: value for name, value in found.items() if name not in ("metadata", "status", "apiVersion", "kind")}
    return {"metadata": metadata, **rest, **({"status": {"phase": phase}} if phase else {})}


async def _against(access: Access) -> Against:
    async with connect(access) as api:
        return await _sides(Reader(api))


async def _sides(reader: Reader) -> Against:
    nodes, classes, standings = await asyncio.gather(
        reader.list(kinds.NODES), reader.list(kinds.RUNTIMECLASSES), reader.list(kinds.NODE_STANDINGS)
    )
    return Against(nodes, classes, standings)
