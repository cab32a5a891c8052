"""The end of a ClusterPolicy: operands leave first (the toolkit restores the runtime), then every label goes.

NVIDIA's operator leaves its labels behind (gpu-operator#1391). A finalizer on the policy keeps it until they are gone.
"""

import asyncio
import datetime as dt
import logging
from typing import Any, Final

from lockgate.controllers.settings import MANAGER
from lockgate.controllers.world import World
from lockgate.kube.errors import Conflict, NotFound
from lockgate.kube.resources import CLUSTERPOLICIES, DAEMONSETS, GPUNODESTATES, NODES
from lockgate.model.objects import ClusterPolicy, Node
from lockgate.operands.catalogue import operands
from lockgate.operands.ownership import GROUPS, removal_patch
from lockgate.operands.policy_state import FINALIZER

log = logging.getLogger(__name__)
PATIENCE: Final = dt.timedelta(minutes=2)  # for pods on nodes that do not answer
AGAIN: Final = 1.0
AT_ONCE: Final = 16


async def hold(world: World, policy: ClusterPolicy) -> None:
    """Put the finalizer on the policy, once."""
    if FINALIZER not in policy.metadata.finalizers:
        await _set_finalizers(world, policy, (*policy.metadata.finalizers, FINALIZER))


async def release(world: World, policy: ClusterPolicy) -> None:
    """Take the finalizer off."""
    if FINALIZER in policy.metadata.finalizers:
        await _set_finalizers(world, policy, tuple(f for f in policy.metadata.finalizers if f != FINALIZER))


async def _set_finalizers(world: World, policy: ClusterPolicy, finalizers: tuple[str, ...]) -> None:
    metadata = {"finalizers": finalizers, "resourceVersion": policy.metadata.resource_version}
    try:
        await world.api.patch(CLUSTERPOLICIES, policy.name, {"metadata": metadata}, field_manager=MANAGER)
    except NotFound:
        return


async def remove(world: World, policy: ClusterPolicy) -> float | None:
    """One step of the removal; returns the seconds until the next, None when the policy may go."""
    if FINALIZER not in policy.metadata.finalizers:
        return None
    names = {operand.daemonset for operand in operands()}
    left = [daemonset for daemonset in world.daemonsets if daemonset.name in names]
    for daemonset in left:
        if daemonset.metadata.deletion_timestamp is None:
            await _delete_daemonset(world, daemonset.name, daemonset.metadata.uid)
    if left and not _out_of_patience(policy):
        return AGAIN
    if left:
        log.warning("ClusterPolicy %s: pods of %s do not end; going on", policy.name, ", ".join(d.name for d in left))
    await _unlabel(world)
    await _forget_states(world)
    await release(world, policy)
    log.info("ClusterPolicy %s: operands and labels are gone", policy.name)
    return None


async def _delete_daemonset(world: World, name: str, uid: str) -> None:
    """In the foreground: the DaemonSet goes after its pods, so its absence says that they have ended."""
    try:
        await world.api.delete(DAEMONSETS, name, world.settings.namespace, uid=uid, propagation="Foreground")
    except (NotFound, Conflict):
        return


def _out_of_patience(policy: ClusterPolicy) -> bool:
    since = policy.metadata.deletion_timestamp
    return since is not None and dt.datetime.now(dt.UTC) - since > PATIENCE


async def _unlabel(world: World) -> None:
    """Take off each node what our programs put there; what a person set stays. A few nodes at a time."""
    names = [node.name for node in world.nodes if _is_labelled(node)]
    for first in range(0, len(names), AT_ONCE):
        await asyncio.gather(*(_unlabel_node(world, name) for name in names[first : first + AT_ONCE]))


async def _unlabel_node(world: World, name: str) -> None:
    try:
        manifest: dict[str, Any] = await world.api.get_manifest(NODES, name)
        if patch := removal_patch(manifest):
            await world.api.patch(NODES, name, patch, field_manager=MANAGER)
    except NotFound:
        return


def _is_labelled(node: Node) -> bool:
    keys = (*node.metadata.labels, *node.metadata.annotations)
    return any(key.startswith(GROUPS) for key in keys)


async def _forget_states(world: World) -> None:
    try:
        states = await world.api.list(GPUNODESTATES)
    except NotFound:
        return  # the definition is gone already
    for state in states:
        try:
            await world.api.delete(GPUNODESTATES, state.name)
        except NotFound:
            continue
