"""What the cluster says of one node's runtime: the Node, what its agents published, the RuntimeClasses; three reads."""

import asyncio
from typing import Any

from lockgate.collect.live import Access, connect
from lockgate.collect.once import run_once
from lockgate.collect.reader import Reader
from lockgate.kube import resources as kinds
from lockgate.model.facts import Missing, Snapshot


def from_node(access: Access, name: str) -> Snapshot:
    """Node, GPUNodeState and RuntimeClasses; what may not be read is Missing. Raises `kube.errors.Unreachable`."""
    return run_once(_read(access, name))


async def _read(access: Access, name: str) -> Snapshot:
    async with connect(access) as api:
        reader = Reader(api)
        node, state, classes = await asyncio.gather(
            reader.get(kinds.NODES, name), reader.get(kinds.GPUNODESTATES, name), reader.list(kinds.RUNTIMECLASSES)
        )
    return Snapshot(nodes=_section(node), node_states=_section(state), runtime_classes=classes)


def _section(found: Any) -> Any:
    return found if isinstance(found, Missing) else () if found is None else (found,)
