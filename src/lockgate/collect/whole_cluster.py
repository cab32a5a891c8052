"""Facts about a whole live cluster, as planning needs them: nodes, what runs on them, what their agents publish.

Placing and moving pods needs more: the volumes that pods are bound to, the budgets that guard them, and what drivers
offer to claims.
"""

import asyncio
import datetime as dt
from typing import Any, Final

from lockgate.collect.live import Access, connect
from lockgate.collect.live_readings import read_readings
from lockgate.collect.once import run_once
from lockgate.collect.reader import Reader
from lockgate.kube import resources as kinds
from lockgate.model.facts import Missing, Snapshot

_ALIVE: Final = "status.phase!=Succeeded,status.phase!=Failed"
# section -> kind and field selector
_ALWAYS: Final[dict[str, tuple[kinds.Resource[Any], str]]] = {
    "nodes": (kinds.NODES, ""),
    "pods": (kinds.PODS, _ALIVE),
    "namespaces": (kinds.NAMESPACES, ""),
    "node_states": (kinds.GPUNODESTATES, ""),
}
_NOT_ASKED: Final = Missing("utilisation was not asked for", "kubectl gpu capacity --metrics")
_TO_PLACE: Final[dict[str, tuple[kinds.Resource[Any], str]]] = {
    "persistent_volume_claims": (kinds.PERSISTENTVOLUMECLAIMS, ""),
    "persistent_volumes": (kinds.PERSISTENTVOLUMES, ""),
    "storage_classes": (kinds.STORAGECLASSES, ""),
    "pod_disruption_budgets": (kinds.PODDISRUPTIONBUDGETS, ""),
    "priority_classes": (kinds.PRIORITYCLASSES, ""),
    "runtime_classes": (kinds.RUNTIMECLASSES, ""),
    "device_classes": (kinds.DEVICECLASSES, ""),
    "resource_claims": (kinds.RESOURCECLAIMS, ""),
    "resource_slices": (kinds.RESOURCESLICES, ""),
}


def from_whole_cluster(access: Access, *, to_place: bool = False, metrics: bool = False) -> Snapshot:
    """Nodes, pods that are not finished, namespaces, node states; with `to_place` volumes, budgets and claims too,
    with `metrics` what the exporters read of the devices.

    What may not be read is Missing. Raises `kube.errors.Unreachable` when there is no answer.
    """
    return run_once(_read(access, _ALWAYS | _TO_PLACE if to_place else _ALWAYS, metrics))


async def _read(access: Access, wanted: dict[str, tuple[kinds.Resource[Any], str]], metrics: bool) -> Snapshot:
    async with connect(access) as api:
        read = Reader(api)
        lists = (read.list(kind, field_selector=selector) for kind, selector in wanted.values())
        found = dict(zip(wanted, await asyncio.gather(*lists), strict=True))
        found["readings"] = await read_readings(api, found["pods"]) if metrics else _NOT_ASKED
    return Snapshot(taken_at=dt.datetime.now(dt.UTC).replace(microsecond=0), **found)
