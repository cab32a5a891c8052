"""Takes a change of the container toolkit over the nodes: looks at each, does the next steps, says how far it is."""

import datetime as dt
import logging
import time

import msgspec

from lockgate.controllers.metrics import Metrics
from lockgate.controllers.policy_status import reference
from lockgate.controllers.toolkit_look import look, newest_revision
from lockgate.controllers.world import World
from lockgate.kit.counted import agreeing, counted
from lockgate.kube.errors import Conflict, NotFound
from lockgate.kube.resources import PODS
from lockgate.model.objects import ClusterPolicy, Condition, DaemonSet
from lockgate.model.policy import PolicySpec
from lockgate.operands import container_toolkit
from lockgate.rollout.budget import parse_budget
from lockgate.rollout.plan import next_steps
from lockgate.rollout.report import STATES, Report, report
from lockgate.rollout.values import Restart, Step

log = logging.getLogger(__name__)
TOOLKIT = container_toolkit.OPERAND
MOVING, RESTING = 1.0, 5.0  # seconds between looks while nodes are in change, and while something else must happen
NODES_A_SECOND = 100.0  # that are looked at, at most: each look reads every node's pods and state


class ToolkitRollout:
    """Decides nothing and knows nothing that the cluster does not tell, but for what need not be looked at again."""

    def __init__(self, world: World, metrics: Metrics) -> None:
        self._world = world
        self._metrics = metrics
        self._done: tuple[str, int] | None = None  # uid and generation of the DaemonSet that is everywhere
        self._last: tuple[float, int, Report] | None = None  # when it was looked, at which generation, what was seen
        self._told = ""
        self.again: float | None = None  # seconds until the next look; None: when something changes

    def clear(self) -> None:
        """Forget: there is no toolkit any more."""
        self._done, self._last, self._told, self.again = None, None, "", None
        self._metrics.note_rollout(dict.fromkeys(STATES, 0))

    async def advance(self, policy: ClusterPolicy, spec: PolicySpec, condition: Condition) -> Condition:
        """One look and the steps that follow from it; the toolkit's condition with what the rollout has to say."""
        daemonset = self._world.daemonsets.get(TOOLKIT.daemonset, self._world.settings.namespace)
        if daemonset is None or daemonset.status.observed_generation < daemonset.metadata.generation:
            return condition
        if self._done == (daemonset.metadata.uid, daemonset.metadata.generation) and _is_everywhere(daemonset):
            return condition
        if self._last and self._is_too_soon(daemonset, *self._last):
            return _said(condition, self._last[2])
        revision = await newest_revision(self._world, daemonset)
        if not revision:
            return condition
        observed = await look(self._world, daemonset, spec, revision)
        now, by_hand = dt.datetime.now(dt.UTC), spec.daemonsets.update_strategy == "OnDelete"
        found = report(observed, now, by_hand=by_hand)
        asked = spec.daemonsets.rolling_update.max_unavailable if spec.daemonsets.rolling_update else ""
        for step in next_steps(observed, parse_budget(asked, len(observed)), now):
            if by_hand and isinstance(step, Restart):
                continue
            await self._do(policy, step, found)
        await self._tell(policy, found)
        self._settle(daemonset, found, len(observed))
        return _said(condition, found)

    @staticmethod
    def _is_too_soon(daemonset: DaemonSet, looked: float, generation: int, seen: Report) -> bool:
        """On a large fleet the DaemonSet's counts change more often than every node can be looked at."""
        nodes = sum(seen.counts.values())
        return generation == daemonset.metadata.generation and time.monotonic() < looked + nodes / NODES_A_SECOND

    async def _do(self, policy: ClusterPolicy, step: Step, found: Report) -> None:
        """Delete the pod that the step names, and no other one of its name."""
        namespace = self._world.settings.namespace
        try:
            await self._world.api.delete(PODS, step.pod.name, namespace, uid=step.pod.uid)
        except (NotFound, Conflict):
            return  # it is gone already: the next look sees what is there now
        if isinstance(step, Restart):
            text = f"{step.node} gets the toolkit's new revision ({counted(found.counts['outdated'], 'node')} to go)"
            log.info("rollout: %s", text)
            await self._world.events.record(reference(policy), "Normal", "RollingOut", text)
        else:
            log.info("rollout: %s is validated again", step.node)

    async def _tell(self, policy: ClusterPolicy, found: Report) -> None:
        """An Event when it stops, and when all is done after there was something to do."""
        said = found.message if found.reason in ("RolloutStopped", "ToolkitFailed") else found.reason
        if said == self._told or (not said and not found.done):
            return
        if found.reason in ("RolloutStopped", "ToolkitFailed"):
            await self._world.events.record(reference(policy), "Warning", found.reason, found.message)
        elif found.done and self._told:
            count = sum(found.counts.values())
            text = f"the toolkit's new revision is on {agreeing(count, 'the one node', f'all {count} nodes')}"
            await self._world.events.record(reference(policy), "Normal", "RolledOut", text)
        self._told = said

    def _settle(self, daemonset: DaemonSet, found: Report, nodes: int) -> None:
        self._done = (daemonset.metadata.uid, daemonset.metadata.generation) if found.done else None
        self._last = (time.monotonic(), daemonset.metadata.generation, found)
        pause = max(MOVING if found.reason == "RollingOut" else RESTING, nodes / NODES_A_SECOND)
        self.again = None if found.done else pause
        self._metrics.note_rollout(found.counts)


def _said(condition: Condition, found: Report) -> Condition:
    """The rollout's word goes before that of the DaemonSet's counts, which know neither runtime nor validation."""
    if not found.reason:
        return condition
    return msgspec.structs.replace(condition, status="False", reason=found.reason, message=found.message)


def _is_everywhere(daemonset: DaemonSet) -> bool:
    status = daemonset.status
    return min(status.updated_number_scheduled, status.number_available) >= status.desired_number_scheduled
