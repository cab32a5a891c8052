"""The operator's process: copies of the cluster, election, reconcilers, health, metrics, until it is told to stop."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from lockgate.controllers.capacity_metrics import CapacityMetrics
from lockgate.controllers.cluster_policy import ClusterPolicies
from lockgate.controllers.metrics import Metrics
from lockgate.controllers.node_labels import NodeLabels
from lockgate.controllers.serving import health_app, metrics_app, serve
from lockgate.controllers.settings import LEASE, Settings
from lockgate.controllers.world import World, make_world
from lockgate.kube.api import Api
from lockgate.kube.controller import Controller
from lockgate.kube.leader import Election
from lockgate.model.node_state import NodeStanding
from lockgate.model.objects import ClusterPolicy, DaemonSet, Node

log = logging.getLogger(__name__)
SETTLE = 0.3  # seconds in which changes are gathered before a pass over the policy


class LeaseLostError(Exception):
    """Another operator may work now; this process must end."""


class Operator:
    """One operator. `run` returns only by an exception: cancelled, or LeaseLostError."""

    def __init__(self, settings: Settings, api: Api) -> None:
        self._settings = settings
        self._api = api
        self._metrics = Metrics()
        self.world: World = make_world(
            settings,
            api,
            on_policy=self._on_policy,
            on_node=self._on_node,
            on_daemonset=self._on_daemonset,
            on_standing=self._on_standing,
        )
        self._policies: Controller[str] = Controller(
            "ClusterPolicy",
            ClusterPolicies(self.world, self._metrics).reconcile,
            on_outcome=lambda succeeded: None if succeeded else self._metrics.note_failure(),
        )
        self._labels: Controller[str] = Controller("node labels", NodeLabels(self.world).reconcile, workers=8)
        self._leading = False

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self.world.follow())
            group.create_task(serve(health_app(self._missing), self._settings.health))
            group.create_task(serve(metrics_app(self._metrics.registry), self._settings.metrics))
            group.create_task(self._lead())

    def _missing(self) -> str:
        """A candidate that waits is as ready as can be; a leader is when its copies are complete."""
        informers = (self.world.policies, self.world.nodes, self.world.daemonsets)
        waiting = [informer.resource.plural for informer in informers if not informer.synced.is_set()]
        return f"not listed yet: {', '.join(waiting)}" if waiting else ""

    async def _lead(self) -> None:
        await self.world.synced()
        async with self._elected():
            self._leading = True
            self._enqueue_policies()
            self._enqueue_nodes()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._policies.run())
                group.create_task(self._labels.run())
                if self._settings.capacity_every:
                    gauges = CapacityMetrics(self._api, self.world.nodes, self._metrics.registry)
                    group.create_task(gauges.run(self._settings.capacity_every))

    @asynccontextmanager
    async def _elected(self) -> AsyncIterator[None]:
        """The time in which this process leads; cancels the work when it no longer does."""
        if not self._settings.leader_elect:
            yield
            return
        election = Election(
            self._api,
            namespace=self._settings.lease_namespace,
            name=LEASE,
            identity=self._settings.identity,
            timing=self._settings.timing,
        )
        await election.win()
        async with asyncio.TaskGroup() as group:
            holding = group.create_task(self._hold(election))
            try:
                yield
            finally:
                holding.cancel()
                await asyncio.shield(asyncio.wait_for(election.release(), 3))

    async def _hold(self, election: Election) -> None:
        await election.hold()
        raise LeaseLostError(f"lease {self._settings.lease_namespace}/{LEASE} lost")

    # --- what changed

    def _on_policy(self, before: ClusterPolicy | None, after: ClusterPolicy | None) -> None:
        if not self._leading:
            return
        self._enqueue_policies()
        if after is None and before is not None:
            self._policies.queue.add(before.name)
        if len(self.world.policies) == 0:
            self._metrics.note_no_policy()
        if before is None or after is None or before.metadata.generation != after.metadata.generation:
            self._enqueue_nodes()

    def _on_node(self, before: Node | None, after: Node | None) -> None:
        if not self._leading or _labelled_alike(before, after):
            return
        if after is not None:
            self._labels.queue.add(after.name)
        self._enqueue_policies()

    def _on_daemonset(self, before: DaemonSet | None, after: DaemonSet | None) -> None:
        if self._leading:
            self._enqueue_policies()

    def _on_standing(self, before: NodeStanding | None, after: NodeStanding | None) -> None:
        """Most changes of a state are about devices and driver."""
        runtimes = [state.status.runtime if state else None for state in (before, after)]
        if self._leading and runtimes[0] != runtimes[1]:
            self._enqueue_policies()

    def _enqueue_policies(self) -> None:
        for policy in self.world.policies:
            self._policies.queue.add_after(policy.name, SETTLE)

    def _enqueue_nodes(self) -> None:
        for node in self.world.nodes:
            self._labels.queue.add(node.name)


def _labelled_alike(before: Node | None, after: Node | None) -> bool:
    """Whether nothing changed that decides about labels or operands: most updates of a node are heartbeats."""
    if before is None or after is None:
        return False
    return (before.metadata.labels, before.metadata.annotations, before.spec, before.status.node_info) == (
        after.metadata.labels,
        after.metadata.annotations,
        after.spec,
        after.status.node_info,
    )
