"""The plugin's section of GPUNodeState: what it handed to the kubelet, and why a device is not healthy."""

from collections.abc import Iterable

import msgspec

from lockgate.agents.device_plugin.devices import PluginDevice, slots
from lockgate.agents.device_plugin.health import Health
from lockgate.agents.device_plugin.settings import Settings
from lockgate.agents.sharing import Sharing
from lockgate.gpu.values import XidEvent
from lockgate.model.names import CDI_PLUGIN
from lockgate.model.node_state import Device, DevicesState, SeenXid

_MOST_XIDS = 8


def describe(
    devices: tuple[PluginDevice, ...], sharing: Sharing, health: Health, blocked: str, message: str, registered: bool
) -> DevicesState:
    """The state to publish. `blocked`: why no device at all may be handed out; empty when they may."""
    advertised = slots(devices, sharing)
    return DevicesState(
        devices=tuple(_describe(device, sharing, health, blocked) for device in devices),
        resources={resource: len(units) for resource, units in sorted(advertised.items())},
        replicas=_replicas(devices, sharing),
        registered=registered,
        message=message,
    )


def handed_out(state: DevicesState, settings: Settings) -> DevicesState:
    """The state with how its devices reach containers."""
    return msgspec.structs.replace(
        state, strategies=settings.list_strategies, cdi_kind=CDI_PLUGIN if settings.uses_cdi else ""
    )


def _describe(device: PluginDevice, sharing: Sharing, health: Health, blocked: str) -> Device:
    sickness = health.get(device.id)
    reason = sickness.reason if sickness else blocked
    return Device(
        uuid=device.id,
        index=device.index,
        product=device.product,
        memory_mib=device.memory_mib,
        resource=sharing.of(device.resource).advertised,
        healthy=not reason,
        reason=reason,
    )


def _replicas(devices: Iterable[PluginDevice], sharing: Sharing) -> int:
    return max((sharing.of(device.resource).replicas for device in devices), default=1)


def health_changes(before: DevicesState, now: DevicesState) -> list[str]:
    """A line for each device whose health, or the reason for it, is another one."""
    known = {device.uuid: device for device in before.devices}
    return [
        f"{device.resource} {device.index} ({device.uuid}): {device.reason or 'healthy again'}"
        for device in now.devices
        if device.reason != (known[device.uuid].reason if device.uuid in known else "")
    ]


def with_xid(seen: tuple[SeenXid, ...], event: XidEvent) -> tuple[SeenXid, ...]:
    """The last XIDs, with one more; one that is there already stays where it is, so that a storm changes nothing."""
    new = SeenXid(code=event.code, uuid=event.uuid)
    return seen if new in seen else (*seen, new)[-_MOST_XIDS:]
