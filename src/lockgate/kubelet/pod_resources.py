"""Which pod holds which device, as the kubelet's pod-resources service lists it."""

from pathlib import Path
from typing import Any, Final

import msgspec

from lockgate.kubelet.channel import call
from lockgate.kubelet.generated import pod_resources_pb2 as pb

SOCKET: Final = Path("/var/lib/kubelet/pod-resources/kubelet.sock")
_SERVICE: Final = "/v1.PodResourcesLister"


class HeldDevices(msgspec.Struct, frozen=True):
    """Devices of one resource that one container holds; shared ones carry `::<replica>` behind the UUID."""

    namespace: str
    pod: str
    container: str
    resource: str
    ids: tuple[str, ...]


async def held_devices(socket: Path = SOCKET, timeout: float = 10.0) -> tuple[HeldDevices, ...]:
    """Every device held by a container, in the kubelet's order; raises UnreachableError.

    Older kubelets also list pods that have ended.
    """
    request = pb.ListPodResourcesRequest()
    answer = await call(socket, f"{_SERVICE}/List", request, pb.ListPodResourcesResponse.FromString, timeout)
    return tuple(_parse_held(answer))


async def allocatable_devices(socket: Path = SOCKET, timeout: float = 10.0) -> dict[str, tuple[str, ...]]:
    """Resource -> ids of the healthy devices that the kubelet can hand out; raises UnreachableError."""
    request = pb.AllocatableResourcesRequest()
    answer = await call(
        socket, f"{_SERVICE}/GetAllocatableResources", request, pb.AllocatableResourcesResponse.FromString, timeout
    )
    found: dict[str, tuple[str, ...]] = {}
    for part in answer.devices:
        found[part.resource_name] = found.get(part.resource_name, ()) + tuple(part.device_ids)
    return found


def _parse_held(answer: Any) -> list[HeldDevices]:
    held: dict[tuple[str, str, str, str], tuple[str, ...]] = {}
    for pod in answer.pod_resources:
        for container in pod.containers:
            for part in container.devices:  # one part a NUMA node
                key = (pod.namespace, pod.name, container.name, part.resource_name)
                held[key] = held.get(key, ()) + tuple(part.device_ids)
    return [HeldDevices(*key, ids) for key, ids in held.items()]
