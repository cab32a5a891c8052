"""What the operator sees: copies of the policies, nodes and DaemonSets, and the doors to change them."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lockgate.controllers.settings import MANAGER, Settings
from lockgate.kube.api import Api
from lockgate.kube.events import Recorder
from lockgate.kube.informer import Informer
from lockgate.kube.resources import CLUSTERPOLICIES, DAEMONSETS, NODE_STANDINGS, NODES
from lockgate.model.node_state import NodeStanding
from lockgate.model.objects import ClusterPolicy, DaemonSet, Node
from lockgate.operands.labels import is_gpu_node
from lockgate.operands.policy_state import active

Change = Callable[[Any, Any], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Shared by the reconcilers; they read the copies and write through `api`."""

    settings: Settings
    api: Api
    events: Recorder
    policies: Informer[ClusterPolicy]
    nodes: Informer[Node]
    daemonsets: Informer[DaemonSet]
    standings: Informer[NodeStanding]

    async def follow(self) -> None:
        """Keep the copies current until cancelled."""
        async with asyncio.TaskGroup() as group:
            for informer in (self.policies, self.nodes, self.daemonsets, self.standings):
                group.create_task(informer.run(), name=f"follow {informer.resource.plural}")

    async def synced(self) -> None:
        """Wait for the first list of everything: before it, absence means nothing.

        But for what the agents publish: it may not be installed, and nothing is removed for want of it.
        """
        for informer in (self.policies, self.nodes, self.daemonsets):
            await informer.synced.wait()

    def active_policy(self) -> ClusterPolicy | None:
        """The policy that counts; one that is being deleted still does, until it is gone."""
        return active(self.policies)

    def runtime(self) -> str:
        """What the GPU nodes run: one name when they agree, else all of them."""
        versions = (node.status.node_info.container_runtime_version for node in self.nodes if is_gpu(node))
        found = sorted({version.partition(":")[0] for version in versions if version})
        return " and ".join(found) or "containerd"


def is_gpu(node: Node) -> bool:
    return is_gpu_node(node.metadata.labels)


def make_world(
    settings: Settings, api: Api, *, on_policy: Change, on_node: Change, on_daemonset: Change, on_standing: Change
) -> World:
    """The copies, wired to their listeners; nothing is asked before `follow`."""
    return World(
        settings=settings,
        api=api,
        events=Recorder(api, MANAGER),
        policies=Informer(api, CLUSTERPOLICIES, on_change=on_policy),
        nodes=Informer(api, NODES, on_change=on_node),
        daemonsets=Informer(api, DAEMONSETS, namespace=settings.namespace, on_change=on_daemonset),
        standings=Informer(api, NODE_STANDINGS, on_change=on_standing),
    )
