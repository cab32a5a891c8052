"""The device plugin at work: looks at the GPUs, decides, tells the kubelet; an XID wakes it at once.

All state lives on the event loop; NVML is read on one thread and waited for on another. Nothing here ends the process
but a request to stop, a first look that fails under FAIL_ON_INIT_ERROR, and another driver in the driver root.
"""

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import Enum, auto
from pathlib import Path
from typing import Final, TypeVar

from lockgate.agents.device_plugin import preference
from lockgate.agents.device_plugin.allocation import Manner, allocate
from lockgate.agents.device_plugin.cdi_file import CDIFileError, device_nodes, write_cdi_file
from lockgate.agents.device_plugin.devices import (
    Enumeration,
    PluginDevice,
    Slot,
    enumerate_devices,
    slots,
    still_expected,
)
from lockgate.agents.device_plugin.endpoint import Endpoint
from lockgate.agents.device_plugin.health import Health, after_probe, after_xid
from lockgate.agents.device_plugin.settings import Settings
from lockgate.agents.device_plugin.state import describe
from lockgate.cdi.build import Place
from lockgate.gpu.caps import read_mig_minors
from lockgate.gpu.events import EventThread
from lockgate.gpu.library import UnavailableError
from lockgate.gpu.nvml import Nvml
from lockgate.gpu.topology import read_pairs
from lockgate.gpu.values import Event, EventsLost, Snapshot
from lockgate.kubelet.messages import AdvertisedDevice, Allocation, PreferenceRequest
from lockgate.model.names import PLUGIN_SOCKETS
from lockgate.model.node_state import DevicesState

_log = logging.getLogger("lockgate.device_plugin")
_T = TypeVar("_T")


CDI_RENEWAL: Final = 60.0  # seconds after which the CDI file is compared with the driver root again
_EAGER: Final = 5  # looks in the time of one, while something is wrong; and looks at sockets


class Ending(Enum):
    """Why the agent returned."""

    STOPPED = auto()
    NO_DRIVER = auto()
    NEW_DRIVER = auto()


class Agent:
    """One node's device plugin.

    `seen_dev_root`: where this container sees the root with the host's `dev/`. `publish` is called with each new state,
    `reload` before each look, `clock` gives seconds that never go back.
    """

    def __init__(
        self,
        settings: Settings,
        seen_dev_root: Path,
        publish: Callable[[DevicesState], None],
        *,
        reload: Callable[[], Settings | None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings = settings
        self.devices: tuple[PluginDevice, ...] = ()
        self.health: Health = {}
        self.endpoints: dict[str, Endpoint] = {}
        self._seen_dev_root = seen_dev_root
        self._publish = publish
        self._reload = reload
        self._clock = clock
        self._nvml = Nvml(settings.driver_root_ctr, settings.sys_root)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="nvml")
        self._events: EventThread | None = None
        self._slots: dict[str, dict[str, Slot]] = {}
        self._scores: preference.Scores = {}
        self._found = Enumeration()
        self._failure = ""
        self._blocked = ""
        self._cdi_due = 0.0
        self._present: frozenset[str] = frozenset()
        self._published: DevicesState | None = None
        self._said: dict[str, str] = {}
        self._wake = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(self, stop: asyncio.Event) -> Ending:
        """Work until `stop` is set; sockets are removed before this returns."""
        self._loop = asyncio.get_running_loop()
        try:
            while not stop.is_set():
                await self._look()
                if self._failure and not self.devices and self.settings.fail_on_init_error:
                    return Ending.NO_DRIVER
                if self._nvml.stale:
                    return Ending.NEW_DRIVER
                await self._pause(stop)
            return Ending.STOPPED
        finally:
            await self._close()

    def wake(self) -> None:
        """Look again now."""
        self._wake.set()

    async def _pause(self, stop: asyncio.Event) -> None:
        worried = self.health or self._failure or self._blocked
        waits = [asyncio.create_task(event.wait()) for event in (stop, self._wake)]
        timeout = self.settings.look / _EAGER if worried else self.settings.look
        _, pending = await asyncio.wait(waits, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        self._wake.clear()

    async def _close(self) -> None:
        await self._stop_events()
        await asyncio.gather(*(endpoint.stop() for endpoint in self.endpoints.values()))
        await self._on_thread(self._nvml.close)
        self._thread.shutdown(wait=False)

    # --- one look

    async def _look(self) -> None:
        self._apply_reload()
        try:
            seen = await self._on_thread(self._snapshot)
        except UnavailableError as error:
            await self._lose_driver(str(error))
        else:
            self._failure = ""
            self._say("driver", "")
            await self._take(seen)
        self._renew_cdi()
        await self._serve()
        self._tell()

    def _apply_reload(self) -> None:
        settings = self._reload()
        if settings is not None:
            _log.info("configuration changed: applying it")
            self.settings = settings
            self._cdi_due = 0.0

    def _snapshot(self) -> Snapshot:
        self._nvml.open()
        return self._nvml.snapshot()

    async def _lose_driver(self, why: str) -> None:
        """Everything is unhealthy until the driver answers; NVML is opened anew then."""
        self._failure = why
        self._say("driver", why)
        await self._stop_events()
        await self._on_thread(self._nvml.close)
        self.health = after_probe(self.health, why, self.devices, self.settings.policy, self._clock())

    async def _take(self, seen: Snapshot) -> None:
        self._found = enumerate_devices(seen, self.settings.mig_strategy, read_mig_minors())
        devices = still_expected(self.devices, self._found, seen)
        if devices != self.devices:
            self._announce(devices)
            self.devices = devices
            self._cdi_due = 0.0
            self._scores = preference.score_pairs(await self._on_thread(lambda: read_pairs(seen.gpus)))
        self.health = after_probe(self.health, seen, devices, self.settings.policy, self._clock())
        for note in (self._found.problem, *self._found.notes):
            self._say(f"note {note}", note)
        await self._watch_events(seen)

    def _announce(self, devices: Sequence[PluginDevice]) -> None:
        if not devices:
            _log.warning("no devices found: nothing is advertised until one appears")
        for device in devices:
            if device not in self.devices:
                _log.info("%s %s: %s (%s)", device.resource, device.index, device.product, device.id)
        for device in self.devices:
            if device.id not in {other.id for other in devices}:
                _log.warning("%s %s is gone (%s)", device.resource, device.index, device.id)

    # --- events

    async def _watch_events(self, seen: Snapshot) -> None:
        """Listen to the GPUs that answer now; one that came back must be registered again."""
        wanted = frozenset(gpu.uuid for gpu in seen.gpus)
        if not self.settings.policy.xids or (self._events is not None and self._events.uuids == wanted):
            return
        await self._stop_events()
        if wanted:
            self._events = EventThread(wanted, self._deliver)
            self._events.start()

    async def _stop_events(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            await asyncio.to_thread(events.stop)

    def _deliver(self, event: Event) -> None:
        """Called on the events' thread."""
        assert self._loop is not None
        with contextlib.suppress(RuntimeError):  # the loop has closed: the process ends
            self._loop.call_soon_threadsafe(self._on_event, event)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, EventsLost):
            _log.debug("waiting for events failed: %s", event.why.said)
        else:
            _log.warning("XID %d on %s", event.code, event.uuid or "a GPU that does not tell its UUID")
            self.health = after_xid(self.health, event, self.devices, self.settings.policy, self._clock())
            self._advertise()
            self._tell()
        self.wake()

    # --- what the kubelet gets

    def _renew_cdi(self) -> None:
        """Without the specification a container could not get its device: then no device may be handed out."""
        now = self._clock()
        if now < self._cdi_due or (self._failure and not self.devices):
            return
        self._cdi_due = now + CDI_RENEWAL
        self._present = device_nodes(self._seen_dev_root)
        try:
            if write_cdi_file(
                self.settings.cdi_root, self.settings.driver_root_ctr, self.devices, self._present, self._place()
            ):
                _log.info("CDI specification written for %d devices", len(self.devices))
            self._blocked = ""
        except CDIFileError as error:
            self._blocked = str(error) if self.settings.uses_cdi else ""
            self._cdi_due = 0.0
        self._say("cdi", self._blocked)

    def _place(self) -> Place:
        return Place(driver_root=self.settings.driver_root, dev_root=self.settings.dev_root or "/")

    async def _serve(self) -> None:
        """One endpoint a resource, each with its current slots."""
        wanted = slots(self.devices, self.settings.sharing)
        self._slots = {resource: {slot.id: slot for slot in units} for resource, units in wanted.items()}
        for resource in self.endpoints.keys() - wanted.keys():
            _log.info("%s: nothing left to advertise: withdrawn", resource)
            await self.endpoints.pop(resource).withdraw()
        fresh = [self._new_endpoint(resource) for resource in wanted if resource not in self.endpoints]
        self._advertise()
        for endpoint in fresh:
            endpoint.start()

    def _new_endpoint(self, resource: str) -> Endpoint:
        kubelet = self.settings.kubelet_socket
        folder = kubelet.parent if kubelet else Path(PLUGIN_SOCKETS)
        decisions = _Decisions(self, resource)
        endpoint = Endpoint(resource, folder, kubelet, decisions, self._tell, self.settings.look / _EAGER)
        self.endpoints[resource] = endpoint
        return endpoint

    def _advertise(self) -> None:
        for resource, endpoint in self.endpoints.items():
            units = self._slots.get(resource, {}).values()
            endpoint.advertise(
                tuple(AdvertisedDevice(unit.id, self._is_healthy(unit.device), unit.device.numa_node) for unit in units)
            )

    def _is_healthy(self, device: PluginDevice) -> bool:
        return device.id not in self.health and not self._blocked

    def allocate(self, resource: str, ids: Sequence[str]) -> Allocation:
        """The answer to the kubelet's Allocate; raises RefusedError."""
        settings = self.settings
        manner = Manner(
            strategies=frozenset(settings.list_strategies),
            by_index=settings.id_strategy == "index",
            pass_device_specs=settings.pass_device_specs,
            one_per_request=settings.sharing.one_per_request,
            annotation_prefix=settings.cdi_annotation_prefix,
            dev_root=settings.dev_root or "/",
        )
        return allocate(resource, ids, self._slots.get(resource, {}), manner, self._present, str(uuid.uuid4()))

    def prefer(self, resource: str, request: PreferenceRequest) -> tuple[str, ...]:
        """The answer to the kubelet's GetPreferredAllocation; raises RefusedError."""
        packed = self.settings.allocation_policy == "packed"
        return preference.prefer(request, self._slots.get(resource, {}), self._scores, packed=packed)

    # --- what people get

    def _tell(self) -> None:
        """Publish the state, when it is another one; log each device whose health changed."""
        state = describe(
            self.devices, self.settings.sharing, self.health, self._blocked, self._message(), self._all_in()
        )
        if state == self._published:
            return
        before = {device.uuid: device for device in self._published.devices} if self._published else {}
        for device in state.devices:
            was = before.get(device.uuid)
            if (was.healthy if was else True) != device.healthy or (was and was.reason != device.reason):
                _log.warning("%s %s: %s", device.resource, device.uuid, device.reason or "healthy again")
        self._published = state
        self._publish(state)

    def _message(self) -> str:
        troubles = [endpoint.trouble for endpoint in self.endpoints.values() if not endpoint.registered]
        lines = (self._failure, self._blocked, self._found.problem, *self._found.notes, *troubles)
        return "; ".join(line for line in lines if line)

    def _all_in(self) -> bool:
        return bool(self.endpoints) and all(endpoint.registered for endpoint in self.endpoints.values())

    def _say(self, topic: str, text: str) -> None:
        """Log a trouble when it is a new one on its topic."""
        if text and self._said.get(topic) != text:
            _log.warning("%s", text)
        self._said[topic] = text

    async def _on_thread(self, call: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)


class _Decisions:
    """One resource's half of the agent, as the gRPC server asks it."""

    def __init__(self, agent: Agent, resource: str) -> None:
        self._agent = agent
        self._resource = resource

    def allocate(self, ids: Sequence[str]) -> Allocation:
        given = self._agent.allocate(self._resource, ids)
        _log.info("%s: allocated %s", self._resource, ", ".join(ids))
        return given

    def prefer(self, request: PreferenceRequest) -> tuple[str, ...]:
        return self._agent.prefer(self._resource, request)
