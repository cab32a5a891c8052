"""One resource in the kubelet's hands: a server, its registration, and both again when either is lost.

A kubelet that starts removes every socket of its folder and makes `kubelet.sock` anew, and knows no plugin: the folder
is looked at every `interval` seconds, since no event tells all of this.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final

from lockgate.kubelet.channel import UnreachableError
from lockgate.kubelet.device_plugin_server import DeviceFeed, DevicePluginServer, Plugin, identity
from lockgate.kubelet.messages import AdvertisedDevice
from lockgate.kubelet.registration import register

FORGOTTEN: Final = 15.0  # seconds registered without a stream, after which the kubelet is told again
_log = logging.getLogger("lockgate.device_plugin")


def socket_name(resource: str) -> str:
    """`nvidia.com/gpu.shared` listens on `nvidia-gpu.shared.sock`."""
    return f"nvidia-{resource.partition('/')[2]}.sock"


class Endpoint:
    """Serves one resource from `start` until `stop`. `kubelet` None: serve without registering."""

    def __init__(
        self,
        resource: str,
        folder: Path,
        kubelet: Path | None,
        plugin: Plugin,
        changed: Callable[[], None],
        interval: float = 1.0,
    ) -> None:
        self.resource = resource
        self.feed = DeviceFeed()
        self.trouble = ""
        self._kubelet = kubelet
        self._server = DevicePluginServer(folder / socket_name(resource), self.feed, plugin)
        self._changed = changed
        self._interval = interval
        self._registered_with: tuple[int, int] | None = None
        self._forgotten = 0.0
        self._task: asyncio.Task[None] | None = None

    @property
    def registered(self) -> bool:
        """Whether the kubelet that is there now accepted this resource."""
        return self._registered_with is not None

    def start(self) -> None:
        """Serve and register, in the background."""
        self._task = asyncio.create_task(self._run(), name=f"endpoint {self.resource}")

    async def stop(self) -> None:
        """End the streams, remove the socket. The kubelet keeps the capacity for five minutes."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await self._server.stop()

    async def withdraw(self) -> None:
        """As `stop`, but tell the kubelet first that no device is left, so that it counts none at once."""
        self.feed.put(())
        if self.feed.streams:
            await asyncio.sleep(self._interval / 2)
        await self.stop()

    async def _run(self) -> None:
        while True:
            try:
                await self._server.start()
            except OSError as error:
                self._say(f"{self.resource}: {error}")
                await asyncio.sleep(self._interval)
                continue
            await self._serve()
            _log.info("%s: own socket %s was removed: listening again", self.resource, self._server.socket)
            self._forget()
            await self._server.stop()
            # Registering before the kubelet has seen the stream end makes it drop its only client for the socket, and
            # then refuse each further try with "device plugin already connected" (kubelet 1.37, connectClient).
            await asyncio.sleep(self._interval)

    async def _serve(self) -> None:
        """Until the socket in the folder is no longer ours."""
        while self._server.intact:
            if self._kubelet is not None:
                await self._keep_registered(self._kubelet)
            await asyncio.sleep(self._interval)

    async def _keep_registered(self, kubelet: Path) -> None:
        there = identity(kubelet)
        if there is None:
            self._forget()
            self._say(f"{self.resource}: waiting for the kubelet: {kubelet} is not there")
        elif there != self._registered_with or self._is_forgotten():
            await self._register(kubelet, there)

    async def _register(self, kubelet: Path, there: tuple[int, int]) -> None:
        try:
            await register(kubelet, self._server.socket.name, self.resource)
        except UnreachableError as error:
            self._forget()
            self._say(f"{self.resource}: not registered: {error}")
            return
        self._registered_with, self._forgotten, self.trouble = there, 0.0, ""
        _log.info("%s: registered with the kubelet, %d devices", self.resource, len(self.feed.devices))
        self._changed()

    def _is_forgotten(self) -> bool:
        """Whether the kubelet has not listened for a while."""
        self._forgotten = 0.0 if self.feed.streams else self._forgotten + self._interval
        return self._forgotten >= FORGOTTEN

    def _forget(self) -> None:
        if self._registered_with is not None:
            self._registered_with = None
            self._changed()

    def _say(self, trouble: str) -> None:
        """Log a trouble when it is a new one."""
        if trouble != self.trouble:
            self.trouble = trouble
            _log.warning("%s", trouble)
            self._changed()

    def advertise(self, devices: tuple[AdvertisedDevice, ...]) -> None:
        """Tell the kubelet this list, if it is another one."""
        self.feed.put(devices)
