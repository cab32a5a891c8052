"""Step `plugin`: the device plugin has registered and the node has GPUs to give.

NVIDIA's validator looks at capacity, which stays after a plugin has died; here allocatable counts, which does not.
"""

from typing import Final

from lockgate.agents.validator.result import NotReadyError, Passed
from lockgate.agents.validator.settings import Settings
from lockgate.kit.quantity import parse_quantity
from lockgate.kube.api import Api
from lockgate.kube.errors import ApiError, Unreachable
from lockgate.kube.resources import NODES
from lockgate.model.names import DEPLOY_PREFIX, PAUSED_FOR_DRIVER, PAUSED_FOR_MIG, is_gpu_resource
from lockgate.model.objects import Node

LABEL: Final = f"{DEPLOY_PREFIX}device-plugin"


async def check_plugin(settings: Settings) -> Passed:
    """Read the Node. Raises NotReadyError."""
    if not settings.node:
        raise NotReadyError("NODE_NAME is not set: it says which Node to look at")
    try:
        async with Api.connect() as api:
            node = await api.get(NODES, settings.node)
    except (ApiError, Unreachable) as error:
        raise NotReadyError(str(error)) from error
    return judge(node)


def judge(node: Node) -> Passed:
    """Whether a Node has GPUs to give, or should have none since a person leaves the plugin out by its label.

    Raises NotReadyError that tells never registered from registered and gone.
    """
    if _left_out(wanted := node.metadata.labels.get(LABEL, "true")):
        return Passed(message=f"nothing to prove: node {node.name} has no device plugin on purpose ({LABEL}={wanted})")
    capacity, allocatable = _gpus(node.status.capacity), _gpus(node.status.allocatable)
    if any(allocatable.values()):
        return Passed(message="allocatable: " + ", ".join(f"{name} {count}" for name, count in allocatable.items()))
    if not capacity:
        raise NotReadyError(f"node {node.name} has no GPU resource: the device plugin has not registered")
    name, count = next(iter(capacity.items()))
    why = "its devices are unhealthy or it has ended" if count else "it ended more than five minutes ago"
    raise NotReadyError(
        f"node {node.name} has capacity {name} {count} but allocatable 0: the device plugin registered, and {why}"
    )


def _left_out(wanted: str) -> bool:
    """A paused plugin comes back, so it is waited for."""
    return wanted != "true" and PAUSED_FOR_DRIVER not in wanted and PAUSED_FOR_MIG not in wanted


def _gpus(resources: dict[str, str]) -> dict[str, int]:
    return {name: int(parse_quantity(value)) for name, value in sorted(resources.items()) if is_gpu_resource(name)}
