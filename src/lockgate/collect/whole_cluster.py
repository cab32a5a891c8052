"""Facts about a whole live cluster, as planning needs them: nodes, what runs on them, what their agents publish."""

import asyncio
import datetime as dt
from typing import Any, Final

from lockgate.collect.live import Access, connect
from lockgate.kube import resources as kinds
from lockgate.kube.api import Api
from lockgate.kube.errors import Forbidden, NotFound
from lockgate.model.facts import Missing, Snapshot

_ALIVE: Final = "status.phase!=Succeeded,status.phase!=Failed"


def from_whole_cluster(access: Access) -> Snapshot:
    """Nodes, pods that are not finished, namespaces and node states; what may not be read is Missing.

    Raises `kube.errors.Unreachable` when there is no answer.
    """
    return asyncio.run(_read(access))


async def _read(access: Access) -> Snapshot:
    api = connect(access)
    async with api:
        nodes, pods, namespaces, states = await asyncio.gather(
            _list(api, kinds.NODES),
            _list(api, kinds.PODS, _ALIVE),
            _list(api, kinds.NAMESPACES),
            _list(api, kinds.GPUNODESTATES),
        )
    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    return Snapshot(taken_at=now, nodes=nodes, pods=pods, namespaces=namespaces, node_states=states)


async def _list(api: Api, resource: kinds.Resource[Any], field_selector: str = "") -> Any:
    try:
        return tuple(await api.list(resource, field_selector=field_selector))
    except Forbidden as error:
        return Missing(str(error), f"RBAC: list on {resource.plural} in the whole cluster")
    except NotFound:
        return Missing(f"the cluster does not know {resource.plural}")
