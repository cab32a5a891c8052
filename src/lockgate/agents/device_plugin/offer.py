"""What the kubelet is offered: an endpoint for each resource, its slots, and the answers to the kubelet's questions."""

import logging
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from lockgate.agents.device_plugin import preference
from lockgate.agents.device_plugin.allocation import Manner, allocate
from lockgate.agents.device_plugin.devices import PluginDevice, Slot, slots
from lockgate.agents.device_plugin.endpoint import Endpoint
from lockgate.agents.device_plugin.settings import Settings
from lockgate.kubelet.messages import AdvertisedDevice, Allocation, PreferenceRequest
from lockgate.model.names import PLUGIN_SOCKETS

_log = logging.getLogger("lockgate.device_plugin")


class Offer:
    """The endpoints of one node. `settings`, `scores` and `present` (the host's device nodes) may be replaced at any
    time; `changed` is called when a registration comes or goes."""

    def __init__(self, settings: Settings, changed: Callable[[], None], interval: float) -> None:
        self.settings = settings
        self.scores: preference.Scores = {}
        self.present: frozenset[str] = frozenset()
        self._endpoints: dict[str, Endpoint] = {}
        self._slots: dict[str, dict[str, Slot]] = {}
        self._changed = changed
        self._interval = interval

    @property
    def registered(self) -> bool:
        """Whether the kubelet knows every resource."""
        return bool(self._endpoints) and all(endpoint.registered for endpoint in self._endpoints.values())

    @property
    def troubles(self) -> tuple[str, ...]:
        """Why resources are not registered."""
        return tuple(endpoint.trouble for endpoint in self._endpoints.values() if endpoint.trouble)

    async def serve(self, devices: Sequence[PluginDevice], unhealthy: frozenset[str]) -> None:
        """Offer these devices and no others."""
        wanted = slots(devices, self.settings.sharing)
        self._slots = {resource: {slot.id: slot for slot in units} for resource, units in wanted.items()}
        for resource in self._endpoints.keys() - wanted.keys():
            _log.info("%s: nothing left to advertise: withdrawn", resource)
            await self._endpoints.pop(resource).withdraw()
        fresh = [self._new_endpoint(resource) for resource in wanted if resource not in self._endpoints]
        self.advertise(unhealthy)
        for endpoint in fresh:
            endpoint.start()

    def advertise(self, unhealthy: frozenset[str]) -> None:
        """Tell the kubelet which of the offered devices are unhealthy now."""
        for resource, endpoint in self._endpoints.items():
            units = [(slot.id, slot.device) for slot in self._slots.get(resource, {}).values()]
            endpoint.advertise(
                tuple(AdvertisedDevice(id, device.id not in unhealthy, device.numa_node) for id, device in units)
            )

    async def stop(self) -> None:
        """End all endpoints; their sockets are removed."""
        for endpoint in self._endpoints.values():
            await endpoint.stop()

    def _new_endpoint(self, resource: str) -> Endpoint:
        kubelet = self.settings.kubelet_socket
        folder = kubelet.parent if kubelet else Path(PLUGIN_SOCKETS)
        endpoint = Endpoint(resource, folder, kubelet, _Answers(self, resource), self._changed, self._interval)
        self._endpoints[resource] = endpoint
        return endpoint

    def allocate(self, resource: str, ids: Sequence[str]) -> Allocation:
        """The answer to Allocate; raises RefusedError."""
        settings = self.settings
        manner = Manner(
            strategies=frozenset(settings.list_strategies),
            by_index=settings.id_strategy == "index",
            pass_device_specs=settings.pass_device_specs,
            one_per_request=settings.sharing.one_per_request,
            annotation_prefix=settings.cdi_annotation_prefix,
            dev_root=settings.dev_root or "/",
        )
        given = allocate(resource, ids, self._slots.get(resource, {}), manner, self.present, str(uuid.uuid4()))
        _log.info("%s: allocated %s", resource, ", ".join(ids))
        return given

    def prefer(self, resource: str, request: PreferenceRequest) -> tuple[str, ...]:
        """The answer to GetPreferredAllocation; raises RefusedError."""
        packed = self.settings.allocation_policy == "packed"
        return preference.prefer(request, self._slots.get(resource, {}), self.scores, packed=packed)


class _Answers:
    """One resource's part of the offer, as its gRPC server asks it."""

    def __init__(self, offer: Offer, resource: str) -> None:
        self._offer = offer
        self._resource = resource

    def allocate(self, ids: Sequence[str]) -> Allocation:
        return self._offer.allocate(self._resource, ids)

    def prefer(self, request: PreferenceRequest) -> tuple[str, ...]:
        return self._offer.prefer(self._resource, request)
