"""Labels nodes as the active policy says. Key: the node's name."""

import msgspec

from lockgate.controllers.settings import MANAGER
from lockgate.controllers.world import World
from lockgate.kube.errors import NotFound
from lockgate.kube.resources import NODES
from lockgate.model.policy import parse_spec
from lockgate.operands.labels import changes


class NodeLabels:
    """Does nothing without a policy, or once the policy is being deleted (its removal takes the labels away)."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def reconcile(self, name: str) -> float | None:
        policy, node = self._world.active_policy(), self._world.nodes.get(name)
        if policy is None or policy.metadata.deletion_timestamp or node is None:
            return None
        try:
            spec = parse_spec(policy.spec)
        except msgspec.ValidationError:
            return None  # said on the policy by its own reconciler
        wanted = changes(node.metadata.labels, node.metadata.annotations, spec)
        if wanted:
            # The version makes the API server refuse what was decided on an old copy.
            patch = wanted.patch()
            body = {"metadata": {**patch["metadata"], "resourceVersion": node.metadata.resource_version}}
            try:
                await self._world.api.patch(NODES, name, body, field_manager=MANAGER)
            except NotFound:
                return None
        return None
