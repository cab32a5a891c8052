"""The device plugin interface in frozen values, and their way from and to the wire.

Source of names and meaning: `protos/device_plugin.proto` (k8s.io/kubelet v0.37.2).
"""

from typing import Any, Final

import msgspec

from lockgate.kubelet.generated import device_plugin_pb2 as pb

VERSION: Final = "v1beta1"
HEALTHY: Final = "Healthy"
UNHEALTHY: Final = "Unhealthy"


class AdvertisedDevice(msgspec.Struct, frozen=True):
    """One slot as the kubelet counts it; `numa_node` None: no topology is told."""

    id: str
    healthy: bool = True
    numa_node: int | None = None


class Mount(msgspec.Struct, frozen=True):
    """A path of the host in the container."""

    host_path: str
    container_path: str
    read_only: bool = True


class DeviceSpec(msgspec.Struct, frozen=True):
    """A device node of the host in the container; `permissions` is a subset of `rwm`."""

    host_path: str
    container_path: str
    permissions: str = "rw"


class Allocation(msgspec.Struct, frozen=True):
    """What one container gets for its devices."""

    envs: dict[str, str] = {}
    mounts: tuple[Mount, ...] = ()
    devices: tuple[DeviceSpec, ...] = ()
    annotations: dict[str, str] = {}
    cdi_devices: tuple[str, ...] = ()


class PreferenceRequest(msgspec.Struct, frozen=True):
    """The kubelet's question which `size` of `available` to take; `required` must be among them."""

    available: tuple[str, ...]
    required: tuple[str, ...]
    size: int


def render_devices(devices: tuple[AdvertisedDevice, ...]) -> pb.ListAndWatchResponse:
    """The complete list, as one message of ListAndWatch."""
    return pb.ListAndWatchResponse(devices=[_render_device(device) for device in devices])


def _render_device(device: AdvertisedDevice) -> Any:
    message = pb.Device(ID=device.id, health=HEALTHY if device.healthy else UNHEALTHY)
    if device.numa_node is not None:
        message.topology.nodes.add(ID=device.numa_node)
    return message


def render_allocation(allocation: Allocation) -> Any:
    """One container's part of AllocateResponse."""
    return pb.ContainerAllocateResponse(
        envs=allocation.envs,
        mounts=[
            pb.Mount(host_path=mount.host_path, container_path=mount.container_path, read_only=mount.read_only)
            for mount in allocation.mounts
        ],
        devices=[
            pb.DeviceSpec(host_path=spec.host_path, container_path=spec.container_path, permissions=spec.permissions)
            for spec in allocation.devices
        ],
        annotations=allocation.annotations,
        cdi_devices=[pb.CDIDevice(name=name) for name in allocation.cdi_devices],
    )


def parse_preference(request: Any) -> PreferenceRequest:
    """One container's part of PreferredAllocationRequest."""
    return PreferenceRequest(
        tuple(request.available_deviceIDs), tuple(request.must_include_deviceIDs), request.allocation_size
    )
