"""What a rollout of the container toolkit looks at: the newest revision, and each node's pods, state and GPUs."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable

from lockgate.controllers.world import World
from lockgate.kube.errors import NotFound
from lockgate.kube.resources import CONTROLLERREVISIONS, NODE_STANDINGS, PODS
from lockgate.model.node_state import NodeStanding
from lockgate.model.objects import DaemonSet, Node, Pod
from lockgate.model.pod_state import node_of
from lockgate.model.policy import PolicySpec
from lockgate.operands import operator_validation
from lockgate.operands.readiness import seats
from lockgate.rollout.toolkit_node import REVISION, Wanted, publishes, view
from lockgate.rollout.values import NodeView

VALIDATOR = operator_validation.OPERAND


async def newest_revision(world: World, daemonset: DaemonSet) -> str:
    """The hash of the DaemonSet's latest template, as its controller labels pods with."""
    revisions = await world.api.list(CONTROLLERREVISIONS, daemonset.namespace, label_selector=_selector(daemonset))
    own = [r for r in revisions if any(o.uid == daemonset.metadata.uid for o in r.metadata.owner_references)]
    newest = max(own, key=lambda revision: revision.revision, default=None)
    return newest.metadata.labels.get(REVISION, "") if newest else ""


async def look(world: World, daemonset: DaemonSet, spec: PolicySpec, revision: str) -> list[NodeView]:
    """Pods and states straight from the API server: a copy may lag, and a node would be taken for a healthy one."""
    wanted = Wanted(
        revision=revision,
        publishes=publishes(daemonset, world.settings.image),
        hands_out=spec.device_plugin.on,
    )
    toolkits, validators, states = await asyncio.gather(
        _pods(world, daemonset),
        _pods(world, world.daemonsets.get(VALIDATOR.daemonset, daemonset.namespace)),
        _states(world),
    )
    return [
        view(node, toolkits[node.name], validators[node.name], states.get(node.name), wanted)
        for node in _targets(world, daemonset)
    ]


async def _states(world: World) -> dict[str, NodeStanding]:
    try:
        return {state.name: state for state in await world.api.list(NODE_STANDINGS)}
    except NotFound:
        return {}  # the definition is not installed: no toolkit can say anything


def _targets(world: World, daemonset: DaemonSet) -> Iterable[Node]:
    seated = [seat.node for seat in seats(daemonset, world.nodes) if seat.standing == "wanted"]
    return [node for name in sorted(seated) if (node := world.nodes.get(name))]


async def _pods(world: World, daemonset: DaemonSet | None) -> dict[str, list[Pod]]:
    found: dict[str, list[Pod]] = defaultdict(list)
    if daemonset is not None:
        for pod in await world.api.list(PODS, daemonset.namespace, label_selector=_selector(daemonset)):
            found[node_of(pod)].append(pod)
    return found


def _selector(daemonset: DaemonSet) -> str:
    return ",".join(f"{key}={value}" for key, value in daemonset.spec.selector.match_labels.items())
