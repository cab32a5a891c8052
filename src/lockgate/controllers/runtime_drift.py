"""Says what the nodes' toolkits publish of their runtimes: a condition, an Event when it is another one, a metric."""

import logging

from lockgate.controllers.metrics import Metrics
from lockgate.controllers.policy_status import reference
from lockgate.controllers.world import World
from lockgate.model.objects import ClusterPolicy, Condition
from lockgate.operands.runtimes import count_runtimes, judge_runtimes

log = logging.getLogger(__name__)


class RuntimeDrift:
    """Remembers what it told, so that an Event is a change and not a heartbeat."""

    def __init__(self, world: World, metrics: Metrics) -> None:
        self._world = world
        self._metrics = metrics
        self._told = ""

    async def look(self, policy: ClusterPolicy) -> Condition | None:
        """The condition of now; None while nobody has published anything."""
        states = tuple(self._world.standings)
        self._metrics.note_runtimes(count_runtimes(states))
        found = judge_runtimes(states)
        said = found.message if found and found.status != "True" else ""
        if said != self._told:
            self._told = said
            await self._tell(policy, found, said)
        return found

    async def _tell(self, policy: ClusterPolicy, found: Condition | None, said: str) -> None:
        if said and found:
            log.warning("runtimes: %s", said)
            await self._world.events.record(reference(policy), "Warning", found.reason, said)
        elif found:
            await self._world.events.record(reference(policy), "Normal", found.reason, found.message)
