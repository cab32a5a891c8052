"""Brings the cluster to what the active ClusterPolicy asks for, and says on the policy how far it is. Key: its name."""

import datetime as dt
import logging
from typing import Literal

import msgspec

from lockgate.controllers import operand_objects, removal
from lockgate.controllers.metrics import Metrics
from lockgate.controllers.settings import MANAGER
from lockgate.controllers.world import World, is_gpu
from lockgate.kube.conditions import renew
from lockgate.kube.errors import ApiError, NotFound
from lockgate.kube.resources import CLUSTERPOLICIES
from lockgate.model.objects import ClusterPolicy, Condition, ObjectReference
from lockgate.model.policy import parse_spec
from lockgate.model.policy.unknown import INSTEAD, pruned_fields
from lockgate.operands import policy_state
from lockgate.operands.catalogue import operands
from lockgate.operands.context import Context, ImageError
from lockgate.operands.operand import Operand
from lockgate.operands.policy_state import PolicyState
from lockgate.operands.readiness import judge
from lockgate.operands.unsupported import unsupported

log = logging.getLogger(__name__)
WATCHFUL = 5.0  # seconds until an unready operand's pods are looked at again


class ClusterPolicies:
    """One pass applies every operand in order, whatever the others do; init containers keep the order on a node."""

    def __init__(self, world: World, metrics: Metrics) -> None:
        self._world = world
        self._metrics = metrics
        self._applied = operand_objects.Applied()
        self._told: dict[str, str] = {}

    async def reconcile(self, name: str) -> float | None:
        policy, winner = self._world.policies.get(name), self._world.active_policy()
        if policy is None or winner is None:
            return None
        if winner.name != name:
            await self._report(policy, policy_state.ignored(winner.name))
            if policy.metadata.deletion_timestamp:
                await removal.release(self._world, policy)
            return None
        if policy.metadata.deletion_timestamp:
            self._applied.clear()
            return await removal.remove(self._world, policy)
        await removal.hold(self._world, policy)
        state = await self._follow(policy)
        await self._report(policy, state)
        self._metrics.note(state, self._world.nodes)
        await self._warn_of_pruned(policy)
        return None if state.state == "ready" else WATCHFUL

    async def _follow(self, policy: ClusterPolicy) -> PolicyState:
        try:
            spec = parse_spec(policy.spec)
        except msgspec.ValidationError as error:
            return policy_state.failed("ReconcileFailed", f"the policy cannot be read: {error}")
        context = Context(
            spec=spec,
            namespace=self._world.settings.namespace,
            image=self._world.settings.image,
            owner=_owner(policy),
            runtime=self._world.runtime(),
        )
        standing = [(o.state, c) for o in operands() if (c := await self._operand(o, context)) is not None]
        lacking = [(row.state, _no(row.condition, "Unsupported", row.message)) for row in unsupported(spec)]
        return policy_state.judged([*lacking, *standing])

    async def _operand(self, operand: Operand, context: Context) -> Condition | None:
        """Apply or remove one operand; its condition, or None when it is disabled and gone."""
        api = self._world.api
        try:
            if not operand.enabled(context.spec):
                await operand_objects.remove(api, operand, context.namespace, self._applied)
                return None
            if refusal := operand.refusal(context):
                return _no(operand.condition, "Unsupported", refusal)
            await operand_objects.apply(api, operand, context, self._applied, self._world.daemonsets)
        except ImageError as error:
            return _no(operand.condition, "InvalidImage", str(error))
        except ApiError as error:
            return _no(operand.condition, "ApplyFailed", str(error))
        if not operand.daemonset:
            return Condition(type=operand.condition, status="True", reason="Applied", message="")
        return await self._judge(operand, context.namespace)

    async def _judge(self, operand: Operand, namespace: str) -> Condition:
        daemonset = self._world.daemonsets.get(operand.daemonset, namespace)
        nodes = tuple(node for node in self._world.nodes if is_gpu(node))
        first = judge(operand, daemonset, nodes, {})
        if first.reason != "Progressing" or daemonset is None:
            return first
        troubles = await operand_objects.troubles(self._world.api, daemonset)
        return judge(operand, daemonset, nodes, troubles)

    async def _report(self, policy: ClusterPolicy, state: PolicyState) -> None:
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

    async def _warn_of_pruned(self, policy: ClusterPolicy) -> None:
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


def _owner(policy: ClusterPolicy) -> dict[str, object]:
    return {
        "apiVersion": CLUSTERPOLICIES.api_version,
        "kind": CLUSTERPOLICIES.kind,
        "name": policy.name,
        "uid": policy.metadata.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _no(kind: str, reason: str, message: str) -> Condition:
    return Condition(type=kind, status="False", reason=reason, message=message)


def _reasons(state: PolicyState) -> set[str]:
    pair = (policy_state.READY, policy_state.ERROR)
    return {c.reason for c in state.conditions if c.status != "True" and c.type not in pair}


def _is_on_its_way(state: PolicyState) -> bool:
    """Whether nothing is wrong but that pods are not ready yet: no reason for an Event."""
    reasons = _reasons(state)
    return bool(reasons) and reasons <= {"Progressing", "NotCreated"}


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
