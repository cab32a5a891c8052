"""Dynamic resource allocation as an observer reads it: what drivers offer, and what pods claim of it.

The shapes are those of `resource.k8s.io/v1` (Kubernetes 1.34); of a device only what all versions since v1beta1 share
is read.
"""

from lockgate.model.objects import Object, Resource


class DeviceClassSpec(Object, frozen=True):
    """`extended_resource_name`: pods that ask for this name are served by claims, not by a device plugin."""

    extended_resource_name: str = ""


class DeviceClass(Resource, frozen=True):
    spec: DeviceClassSpec = DeviceClassSpec()


class OfferedDevice(Object, frozen=True):
    name: str = ""


class DevicePool(Object, frozen=True):
    name: str = ""


class ResourceSliceSpec(Object, frozen=True):
    driver: str = ""
    node_name: str = ""
    pool: DevicePool = DevicePool()
    devices: tuple[OfferedDevice, ...] = ()


class ResourceSlice(Resource, frozen=True):
    """Devices that a driver offers, of one node or of several."""

    spec: ResourceSliceSpec = ResourceSliceSpec()


class ExactRequest(Object, frozen=True):
    device_class_name: str = ""
    count: int = 1


class DeviceRequest(Object, frozen=True):
    """One request of a claim; before v1 the class stood here, since v1 in `exactly`."""

    name: str = ""
    device_class_name: str = ""
    exactly: ExactRequest | None = None
    first_available: tuple[ExactRequest, ...] = ()

    @property
    def classes(self) -> tuple[str, ...]:
        """The device classes that would do."""
        named = [self.device_class_name, *(r.device_class_name for r in self.first_available)]
        return tuple(c for c in (self.exactly.device_class_name if self.exactly else "", *named) if c)


class DeviceClaim(Object, frozen=True):
    requests: tuple[DeviceRequest, ...] = ()


class ResourceClaimSpec(Object, frozen=True):
    devices: DeviceClaim = DeviceClaim()


class AllocatedDevice(Object, frozen=True):
    driver: str = ""
    pool: str = ""
    device: str = ""


class DeviceAllocation(Object, frozen=True):
    results: tuple[AllocatedDevice, ...] = ()


class ClaimAllocation(Object, frozen=True):
    devices: DeviceAllocation = DeviceAllocation()


class ClaimConsumer(Object, frozen=True):
    resource: str = ""
    name: str = ""


class ResourceClaimStatus(Object, frozen=True):
    allocation: ClaimAllocation | None = None
    reserved_for: tuple[ClaimConsumer, ...] = ()


class ResourceClaim(Resource, frozen=True):
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()

    @property
    def devices(self) -> tuple[AllocatedDevice, ...]:
        """The devices that it holds."""
        return self.status.allocation.devices.results if self.status.allocation else ()
