"""Whether the kubelet admits a pod's devices, and in which words it refuses: gate 1 a second time, on the node.

Source: kubernetes 1.37.2, pkg/kubelet/cm/devicemanager/manager.go (devicesToAllocate, isDevicePluginResource) and
pkg/kubelet/lifecycle/predicate.go. The device manager is asked first, the fit check second.
"""

from typing import Final

import msgspec

from lockgate.accounting.ledger import Ledger

UNEXPECTED: Final = "UnexpectedAdmissionError"


class Admitted(msgspec.Struct, frozen=True):
    """The pod gets `count` of the free healthy devices; 0: the node has never had the resource, so that the kubelet
    asks nobody, and the container starts without any device."""

    count: int


class Refused(msgspec.Struct, frozen=True):
    """The pod fails for good with this status.reason and status.message, in the words of kubelet 1.37."""

    reason: str
    message: str


def admit(ledger: Ledger, resource: str, requested: int, held: frozenset[str], now: float) -> Admitted | Refused:
    """The answer to a container that asks for `requested` devices while pods of this node hold `held`."""
    account = ledger.get(resource)
    if account is None:
        return Admitted(0)
    devices = account.at(now).devices
    if devices is None:
        return _forgotten(resource, requested, held)
    healthy = {device for device, well in devices.items() if well}
    if not healthy:
        return _unexpected(f"no healthy devices present; cannot allocate unhealthy devices {resource}")
    free = len(healthy - held)
    if free < requested:
        return _unexpected(
            f"requested number of devices unavailable for {resource}. Requested: {requested}, Available: {free}"
        )
    return Admitted(requested)


def _forgotten(resource: str, requested: int, held: frozenset[str]) -> Refused:
    """While some pod still holds a device the manager feels responsible; else the fit check meets the key at 0."""
    if held:
        return _unexpected(f"cannot allocate unregistered device {resource}")
    numbers = f"requested: {requested}, used: 0, capacity: 0"
    return Refused(f"OutOf{resource}", f"Pod was rejected: Node didn't have enough resource: {resource}, {numbers}")


def _unexpected(cause: str) -> Refused:
    return Refused(UNEXPECTED, f"Pod was rejected: Allocate failed due to {cause}, which is unexpected")
