"""`collect --probe`: files of nodes by short-lived pods that mount them read-only, told before and removed after."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from lockgate.apply.short_lived import ShortLived
from lockgate.cli.short_pods import Image, Place, probe_pod
from lockgate.collect.errors import InputError
from lockgate.collect.live import Access, connect
from lockgate.collect.probe import load
from lockgate.collect.watching import until_ended
from lockgate.diagnosis.operand_names import short_name
from lockgate.kit.counted import counted
from lockgate.kube.api import Api
from lockgate.kube.errors import ApiError, NotFound
from lockgate.kube.resources import PODS
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import DaemonSet
from lockgate.model.pod_state import trouble

ALL: Final = "all"
_AT_ONCE: Final = 8
_MOST_LOG: Final = 16 * 1024 * 1024
Files = dict[str, str]


def nodes_of(snapshot: Snapshot, wanted: Sequence[str]) -> tuple[str, ...]:
    """The nodes that were named, all with GPUs for `all`; raises InputError for one that is not there."""
    if isinstance(snapshot.nodes, Missing):
        raise InputError(f"--probe: nodes are not known ({snapshot.nodes.reason})")
    there = {node.name for node in snapshot.nodes}
    unknown = [name for name in wanted if name not in (ALL, *there)]
    if unknown:
        raise InputError(f"--probe {unknown[0]}: no such node (there is: {', '.join(sorted(there)) or 'none'})")
    every = {n.name for n in snapshot.nodes if is_gpu_node(n)} if ALL in wanted else set()
    return tuple(sorted(every | (set(wanted) - {ALL})))


def own_operand(snapshot: Snapshot) -> DaemonSet | None:
    """An operand that runs Lockgate's own image: discovery always does. None where Lockgate is not installed."""
    sets = () if isinstance(snapshot.daemon_sets, Missing) else snapshot.daemon_sets
    return next((ds for ds in sets if short_name(ds) == "discovery"), None)


def said_before(places: Sequence[Place], image: Image) -> str:
    """What will be made, in a sentence."""
    return (
        f"--probe makes {counted(len(places), 'pod')} in namespace {places[0].namespace}, on "
        f"{', '.join(p.node for p in places)}: {image.name} reads the node's files through a read-only mount of its /, "
        "as root, and is removed again"
    )


async def probe(
    access: Access, places: Sequence[Place], image: Image, seconds: float, tell: Callable[[str], None]
) -> dict[str, Files | str]:
    """The files of each node, or why they could not be read."""
    at_once = asyncio.Semaphore(_AT_ONCE)
    async with connect(access) as api, ShortLived(api, tell) as pods:

        async def one(place: Place) -> Files | str:
            async with at_once:
                await pods.make(probe_pod(place, image))
                try:
                    return await _read(api, place, seconds)
                finally:
                    await pods.remove(place.namespace, place.name)

        found = await asyncio.gather(*map(one, places))
    return {place.node: files for place, files in zip(places, found, strict=True)}


async def _read(api: Api, place: Place, seconds: float) -> Files | str:
    try:
        async with asyncio.timeout(seconds):
            await until_ended(api, place.name, place.namespace)
        return load(f"node {place.node}", await api.logs(place.namespace, place.name, limit_bytes=_MOST_LOG))
    except TimeoutError:
        return await _waits(api, place, seconds)
    except NotFound:
        return "the probe was removed by somebody else"
    except (ApiError, InputError) as error:
        return str(error)


async def _waits(api: Api, place: Place, seconds: float) -> str:
    try:
        pod = await api.get(PODS, place.name, place.namespace)
    except ApiError as error:
        return str(error)
    return f"the probe did not end within {seconds:g} s: {trouble(pod)}"
