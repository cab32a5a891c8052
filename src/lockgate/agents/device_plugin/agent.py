"""The device plugin at work: looks at the GPUs, decides, tells the kubelet; an XID wakes it at once.

Nothing here ends the process but a request to stop, a first look that fails under FAIL_ON_INIT_ERROR, and another
driver in the driver root.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from enum import Enum, auto
from pathlib import Path
from typing import Final

import msgspec

from lockgate.agents.device_plugin.cdi_file import CDIFileError, write_cdi_file
from lockgate.agents.device_plugin.devices import Enumeration, PluginDevice, enumerate_devices, still_expected
from lockgate.agents.device_plugin.eyes import Eyes
from lockgate.agents.device_plugin.health import Health, after_probe, after_xid
from lockgate.agents.device_plugin.offer import Offer
from lockgate.agents.device_plugin.preference import score_pairs
from lockgate.agents.device_plugin.settings import Settings
from lockgate.agents.device_plugin.state import describe, health_changes, with_xid
from lockgate.cdi.build import Place
from lockgate.gpu.caps import read_mig_minors
from lockgate.gpu.values import Event, EventsLost, Snapshot
from lockgate.host.device_nodes import find_nodes
from lockgate.model.node_state import DevicesState, SeenXid

_EAGER: Final = 5  # looks in the time of one, while something is wrong; and looks at sockets
_log = logging.getLogger("lockgate.device_plugin")


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
        self._seen_dev_root = seen_dev_root
        self._publish = publish
        self._reload = reload
        self._clock = clock
        self._eyes = Eyes(settings.driver_root_ctr, settings.sys_root, self._on_event)
        self._offer = Offer(settings, self._tell, settings.look / _EAGER)
        self._devices: tuple[PluginDevice, ...] = ()
        self._found = Enumeration()
        self._health: Health = {}
        self._failure = ""  # why the driver does not answer
        self._blocked = ""  # why no device at all may be handed out
        self._xids: tuple[SeenXid, ...] = ()
        self._state = DevicesState()
        self._said: dict[str, str] = {}
        self._wake = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> Ending:
        """Work until `stop` is set; sockets are removed before this returns."""
        try:
            while not stop.is_set():
                await self._look()
                if self._failure and not self._devices and self.settings.fail_on_init_error:
                    return Ending.NO_DRIVER
                if self._eyes.stale:
                    return Ending.NEW_DRIVER
                await self._pause(stop)
            return Ending.STOPPED
        finally:
            await self._offer.stop()
            await self._eyes.close()

    def wake(self) -> None:
        """Look again now."""
        self._wake.set()

    async def _pause(self, stop: asyncio.Event) -> None:
        worried = self._health or self._failure or self._blocked
        waits = [asyncio.create_task(event.wait()) for event in (stop, self._wake)]
        timeout = self.settings.look / _EAGER if worried else self.settings.look
        _, pending = await asyncio.wait(waits, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        self._wake.clear()

    async def _look(self) -> None:
        self._apply_reload()
        seen = await self._eyes.look()
        if isinstance(seen, str):
            self._lose_driver(seen)
        else:
            await self._take(seen)
        self._renew_cdi()
        await self._offer.serve(self._devices, self._unhealthy())
        self._tell()

    def _apply_reload(self) -> None:
        settings = self._reload()
        if settings is not None:
            self.settings = self._offer.settings = settings

    def _lose_driver(self, why: str) -> None:
        """Everything is unhealthy until the driver answers."""
        self._failure = why
        self._say("driver", why)
        self._health = after_probe(self._health, why, self._devices, self.settings.policy, self._clock())

    async def _take(self, seen: Snapshot) -> None:
        self._failure = ""
        self._say("driver", "")
        self._found = enumerate_devices(seen, self.settings.mig_strategy, read_mig_minors())
        devices = still_expected(self._devices, self._found, seen)
        if devices != self._devices:
            self._announce(devices)
            self._devices = devices
            self._offer.scores = score_pairs(await self._eyes.pairs(seen.gpus))
        self._health = after_probe(self._health, seen, devices, self.settings.policy, self._clock())
        for note in (self._found.problem, *self._found.notes):
            self._say(f"note {note}", note)
        if self.settings.policy.xids:
            await self._eyes.listen(seen.gpus)

    def _announce(self, devices: Sequence[PluginDevice]) -> None:
        if not devices:
            _log.warning("no devices left: nothing is advertised until one appears")
        for device in devices:
            if device not in self._devices:
                _log.info("%s %s: %s (%s)", device.resource, device.index, device.product, device.id)
        for device in self._devices:
            if device.id not in {other.id for other in devices}:
                _log.warning("%s %s is gone (%s)", device.resource, device.index, device.id)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, EventsLost):
            _log.debug("waiting for events failed: %s", event.why.said)
        else:
            _log.warning("XID %d on %s", event.code, event.uuid or "a GPU that does not tell its UUID")
            self._xids = with_xid(self._xids, event)
            self._health = after_xid(self._health, event, self._devices, self.settings.policy, self._clock())
            self._offer.advertise(self._unhealthy())
            self._tell()
        self.wake()

    def _unhealthy(self) -> frozenset[str]:
        return frozenset(device.id for device in self._devices if self._blocked or device.id in self._health)

    def _renew_cdi(self) -> None:
        """Without the specification a container could not get its device: then no device may be handed out."""
        settings = self.settings
        if self._failure and not self._devices:
            return
        dev = self._seen_dev_root / "dev"
        present = self._offer.present = frozenset(find_nodes(dev))
        place = Place(driver_root=settings.driver_root, dev_root=settings.dev_root or "/")
        try:
            if write_cdi_file(settings.cdi_root, settings.driver_root_ctr, self._devices, present, dev, place):
                _log.info("CDI specification written for %d devices", len(self._devices))
        except CDIFileError as error:
            self._blocked = str(error) if settings.uses_cdi else ""
        else:
            self._blocked = ""
        self._say("cdi", self._blocked)

    def _tell(self) -> None:
        """Publish the state when it is another one."""
        lines = (self._failure, self._blocked, self._found.problem, *self._found.notes, *self._offer.troubles)
        message = "; ".join(line for line in lines if line)
        sharing = self.settings.sharing
        state = describe(self._devices, sharing, self._health, self._blocked, message, self._offer.registered)
        state = msgspec.structs.replace(state, xids=self._xids)
        if state == self._state:
            return
        for line in health_changes(self._state, state):
            _log.warning("%s", line)
        self._state = state
        self._publish(state)

    def _say(self, topic: str, text: str) -> None:
        """Log a trouble when it is a new one on its topic."""
        if text and self._said.get(topic) != text:
            _log.warning("%s", text)
        self._said[topic] = text
