"""Brings the cluster to what the active ClusterPolicy asks for, and says on the policy how far it is. Key: its name."""

import datetime as dt

import msgspec

from lockgate.controllers import operand_objects, removal
from lockgate.controllers.metrics import Metrics
from lockgate.controllers.policy_status import PolicyStatus
from lockgate.controllers.runtime_drift import RuntimeDrift
from lockgate.controllers.toolkit_rollout import ToolkitRollout
from lockgate.controllers.world import World, is_gpu
from lockgate.kube.errors import ApiError
from lockgate.kube.resources import CLUSTERPOLICIES
from lockgate.model.objects import ClusterPolicy, Condition
from lockgate.model.policy import parse_spec
from lockgate.operands import container_toolkit, policy_state, precedence, runtimes
from lockgate.operands.catalogue import operands
from lockgate.operands.context import Context, ImageError
from lockgate.operands.operand import Operand
from lockgate.operands.policy_state import PolicyState
from lockgate.operands.readiness import judge
from lockgate.operands.unsupported import unsupported

TOOLKIT = container_toolkit.OPERAND.daemonset
_LONG_AGO = dt.datetime.fromtimestamp(0, dt.UTC)
WATCHFUL = 5.0  # seconds until an unready operand's pods are looked at again


class ClusterPolicies:
    """One pass applies every operand in order, whatever the others do; init containers keep the order on a node."""

    def __init__(self, world: World, metrics: Metrics) -> None:
        self._world = world
        self._metrics = metrics
        self._applied = operand_objects.Applied()
        self._status = PolicyStatus(world)
        self._rollout = ToolkitRollout(world, metrics)
        self._drift = RuntimeDrift(world, metrics)

    async def reconcile(self, name: str) -> float | None:
        policy, winner = self._world.policies.get(name), self._world.active_policy()
        if policy is None or winner is None:
            return None
        if winner.name != name:
            await self._status.report(policy, policy_state.ignored(winner.name))
            if policy.metadata.deletion_timestamp:
                await removal.release(self._world, policy)
            return None
        if policy.metadata.deletion_timestamp:
            self._applied.clear()
            self._rollout.clear()
            return await removal.remove(self._world, policy)
        await removal.hold(self._world, policy)
        state = await self._follow(policy)
        await self._status.report(policy, state)
        self._metrics.note(state, self._world.nodes)
        await self._status.warn_of_pruned(policy)
        again = self._rollout.again
        return again if state.state == "ready" else min(WATCHFUL, again or WATCHFUL)

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
        age = dt.datetime.now(dt.UTC) - (policy.metadata.creation_timestamp or _LONG_AGO)
        standing = [(o.state, c) for o in operands() if (c := await self._operand(policy, o, context, age))]
        lacking = [(row.state, _no(row.condition, "Unsupported", row.message)) for row in unsupported(spec)]
        drift = await self._drift.look(policy) if container_toolkit.OPERAND.enabled(spec) else None
        if drift is None:
            return policy_state.judged([*lacking, *standing])
        if drift.reason == runtimes.LOST:
            return policy_state.judged([*lacking, *standing, (container_toolkit.OPERAND.state, drift)])
        return policy_state.with_note(policy_state.judged([*lacking, *standing]), drift)

    async def _operand(
        self, policy: ClusterPolicy, operand: Operand, context: Context, age: dt.timedelta
    ) -> Condition | None:
        """Apply or remove one operand; its condition, or None when it is disabled and gone."""
        api = self._world.api
        try:
            if not operand.enabled(context.spec):
                await operand_objects.remove(api, operand, context.namespace, self._applied)
                if operand.paced:
                    self._rollout.clear()
                return None
            if refusal := operand.refusal(context):
                return _no(operand.condition, "Unsupported", refusal)
            own, toolkit = (self._world.daemonsets.get(n, context.namespace) for n in (operand.daemonset, TOOLKIT))
            if precedence.waits(operand, context.spec, own=own, toolkit=toolkit, age=age):
                return precedence.waiting(operand)
            await operand_objects.apply(api, operand, context, self._applied, self._world.daemonsets)
            if not operand.daemonset:
                return Condition(type=operand.condition, status="True", reason="Applied", message="")
            condition = await self._judge(operand, context.namespace)
            return await self._rollout.advance(policy, context.spec, condition) if operand.paced else condition
        except ImageError as error:
            return _no(operand.condition, "InvalidImage", str(error))
        except ApiError as error:
            return _no(operand.condition, "ApplyFailed", str(error))

    async def _judge(self, operand: Operand, namespace: str) -> Condition:
        daemonset = self._world.daemonsets.get(operand.daemonset, namespace)
        nodes = tuple(node for node in self._world.nodes if is_gpu(node))
        first = judge(operand, daemonset, nodes, {})
        if first.reason != "Progressing" or daemonset is None:
            return first
        troubles = await operand_objects.troubles(self._world.api, daemonset)
        return judge(operand, daemonset, nodes, troubles)


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
