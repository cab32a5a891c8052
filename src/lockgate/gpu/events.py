"""Waits for the driver's events on a thread of its own and delivers them as values."""

import threading
from collections.abc import Callable, Iterable
from ctypes import c_void_p, cast
from typing import Any, Final

import pynvml

from lockgate.gpu.reading import ERRORS, read, unread
from lockgate.gpu.values import Event, EventsLost, Reason, Unread, XidEvent

WAIT_MS: Final = 1000  # bounds how long `stop` takes
PAUSE_S: Final = 5.0  # after a failed wait, before the next try
_WHOLE_GPU: Final = 0xFFFFFFFF


class EventThread:
    """Delivers XID events of these GPUs until stopped. NVML must stay open for as long as it runs.

    A wait that fails is delivered as EventsLost, and tried again every few seconds. `deliver` is called on this thread.
    """

    def __init__(self, uuids: Iterable[str], deliver: Callable[[Event], None]) -> None:
        self.uuids = frozenset(uuids)
        self._deliver = deliver
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="nvml-events", daemon=True)

    def start(self) -> None:
        """Start waiting."""
        self._thread.start()

    def stop(self) -> None:
        """Stop and wait for the thread, a second or so."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._watch()
            except ERRORS as error:
                self._deliver(EventsLost(unread(error)))
                self._stop.wait(PAUSE_S)

    def _watch(self) -> None:
        events = pynvml.nvmlEventSetCreate()
        try:
            registered = dict(filter(None, (_register(uuid, events) for uuid in self.uuids)))
            if not registered:
                self._stop.wait()  # nothing here can send an event
            while not self._stop.is_set():
                self._wait(events, registered)
        finally:
            read(pynvml.nvmlEventSetFree, events)

    def _wait(self, events: Any, registered: dict[int, str]) -> None:
        try:
            data = pynvml.nvmlEventSetWait_v2(events, WAIT_MS)
        except pynvml.NVMLError as error:
            if unread(error).reason is Reason.TIMEOUT:
                return
            raise
        if data.eventType == pynvml.nvmlEventTypeXidCriticalError:
            self._deliver(_event(data, registered))


def _register(uuid: str, events: Any) -> tuple[int, str] | None:
    """The handle's value and the GPU's UUID; None when the GPU cannot send events (old board, lost)."""
    handle = read(pynvml.nvmlDeviceGetHandleByUUID, uuid)
    if isinstance(handle, Unread):
        return None
    supported = read(pynvml.nvmlDeviceGetSupportedEventTypes, handle)
    wanted = pynvml.nvmlEventTypeXidCriticalError
    if isinstance(supported, Unread) or not supported & wanted:
        return None
    if isinstance(read(pynvml.nvmlDeviceRegisterEvents, handle, wanted, events), Unread):
        return None
    return _pointer(handle), uuid


def _event(data: Any, registered: dict[int, str]) -> XidEvent:
    uuid = registered.get(_pointer(data.device), "")  # a lost GPU no longer tells its UUID
    if not uuid:
        told = read(pynvml.nvmlDeviceGetUUID, data.device)
        uuid = "" if isinstance(told, Unread) else told
    return XidEvent(uuid, int(data.eventData), _instance(data.gpuInstanceId), _instance(data.computeInstanceId))


def _instance(number: int) -> int | None:
    return None if number == _WHOLE_GPU else number


def _pointer(handle: Any) -> int:
    """Handles do not compare equal, their addresses do."""
    return cast(handle, c_void_p).value or 0
