"""Says on a ClusterPolicy what became of it: its status when that differs, an Event when what it says is new."""

import datetime as dt
import logging
from typing import Literal

from lockgate.controllers.settings import MANAGER
from lockgate.controllers.world import World
from lockgate.kube.conditions import renew
from lockgate.kube.errors import NotFound
from lockgate.kube.resources import CLUSTERPOLICIES
from lockgate.model.objects import ClusterPolicy, Condition, ObjectReference
from lockgate.model.policy.unknown import INSTEAD, pruned_fields
from lockgate.operands import policy_state, runtimes
from lockgate.operands.policy_state import PolicyState

log = logging.getLogger(__name__)


class PolicyStatus:
    """Remembers what it told of each policy, so that an Event is a change and not a heartbeat."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._told: dict[str, str] = {}

    async def report(self, policy: ClusterPolicy, state: PolicyState) -> None:
        """Write the status when it differs, and an Event when what it says is new."""
        before = policy.status
        now = dt.datetime.now(dt.UTC).replace(microsecond=0)
        conditions = renew(before.conditions, state.conditions, now, policy.metadata.generation)
        same = (before.state, before.namespace, before.conditions)
        if same != (state.state, self._world.settings.namespace, conditions):
            body = {
                "apiVersion": CLUSTERPOLICIES.api_version,
                "kind": CLUSTERPOLICIES.kind,
                "metadata": {"name": policy.name},
                "status": {
                    "state": state.state,
                    "namespace": self._world.settings.namespace,
                    "conditions": [_full(condition) for condition in conditions],
                },
            }
            try:
                await self._world.api.apply(body, MANAGER, subresource="status")
            except NotFound:
                return
        await self._tell(policy, state)

    async def _tell(self, policy: ClusterPolicy, state: PolicyState) -> None:
        """An Event for each change of reason; progress inside one reason is in the condition alone."""
        summary = state.summary
        said = f"{state.state}/{summary.reason}/{sorted(_reasons(state))}"
        if self._told.get(policy.metadata.uid) == said:
            return
        self._told[policy.metadata.uid] = said
        log.info("ClusterPolicy %s: %s: %s", policy.name, state.state, summary.message)
        if _is_on_its_way(state):
            return
        kind: Literal["Normal", "Warning"] = "Normal" if state.state == "ready" else "Warning"
        await self._world.events.record(reference(policy), kind, summary.reason, summary.message)

    async def warn_of_pruned(self, policy: ClusterPolicy) -> None:
        fields = pruned_fields(policy.metadata.annotations)
        key = f"{policy.metadata.uid}/pruned"
        if not fields or self._told.get(key) == str(fields):
            return
        self._told[key] = str(fields)
        text = ", ".join(f"{field} (use {INSTEAD[field]})" if field in INSTEAD else field for field in fields)
        message = f"the API server dropped fields that a ClusterPolicy does not have: {text}"
        await self._world.events.record(reference(policy), "Warning", "UnknownFields", message)


def reference(policy: ClusterPolicy) -> ObjectReference:
    """The policy as the subject of an Event."""
    return ObjectReference(
        api_version=CLUSTERPOLICIES.api_version,
        kind=CLUSTERPOLICIES.kind,
        name=policy.name,
        uid=policy.metadata.uid,
    )


def _reasons(state: PolicyState) -> set[str]:
    """Why it is not ready; drift of the runtimes has Events of its own."""
    others = (policy_state.READY, policy_state.ERROR, runtimes.IN_STEP)
    return {c.reason for c in state.conditions if c.status != "True" and c.type not in others}


def _is_on_its_way(state: PolicyState) -> bool:
    """Whether nothing is wrong but that pods are not ready yet: no reason for an Event."""
    reasons = _reasons(state)
    return bool(reasons) and reasons <= {"Progressing", "NotCreated", "RollingOut"}


def _full(condition: Condition) -> dict[str, object]:
    """Every field, since the schema requires an empty message to be written."""
    since = condition.last_transition_time
    return {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message[:32768],
        "lastTransitionTime": since.strftime("%Y-%m-%dT%H:%M:%SZ") if since else None,
        "observedGeneration": condition.observed_generation,
    }
