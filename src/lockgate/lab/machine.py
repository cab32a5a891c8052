"""A running simulated driver: the present state, the clients connected to it, and the events on their way to them."""

import asyncio
import time
from collections import deque
from collections.abc import Callable

import msgspec

from lockgate.lab.codes import NO_INSTANCE, Event
from lockgate.lab.kernel_log import xid_lines
from lockgate.lab.state import Driver, Gpu, Process


class GpuEvent(msgspec.Struct, frozen=True):
    """What an event set delivers: type as a bit of codes.Event, data (the XID), instances or NO_INSTANCE."""

    minor: int
    type: int
    data: int
    gpu_instance: int = NO_INSTANCE
    compute_instance: int = NO_INSTANCE


class Session:
    """One connection: what its process may see, what it waits for, what it holds."""

    def __init__(self, pid: int = 0, name: str = "[Not Found]") -> None:
        self.pid = pid
        self.name = name
        self.api = ""
        self.visible: frozenset[int] = frozenset()
        self.visible_to_cuda: str | None = None
        self.cuda_ready = False
        self.allocations: dict[int, Allocation] = {}
        self.event_masks: dict[int, int] = {}
        self.events: asyncio.Queue[GpuEvent] = asyncio.Queue(maxsize=1024)

    def offer(self, event: GpuEvent) -> None:
        """Queue the event if this session registered for it; the oldest goes when too many wait."""
        if not self.event_masks.get(event.minor, 0) & event.type:
            return
        if self.events.full():
            self.events.get_nowait()
        self.events.put_nowait(event)


class Allocation(msgspec.Struct, frozen=True):
    """Memory that a session holds on a GPU, or on one MIG device of it; a context counts as one."""

    minor: int
    bytes: int
    gpu_instance: int | None = None
    compute_instance: int | None = None


class Machine:
    """The one holder of mutable state. All of it is touched from the event loop only."""

    def __init__(self, driver: Driver, clock: Callable[[], float] = time.monotonic) -> None:
        self.driver = driver
        self.clock = clock
        self.started = clock()
        self.sessions: set[Session] = set()
        self.kernel_log: deque[str] = deque(maxlen=1000)
        self._next_allocation = 1

    def change_gpu(self, gpu: Gpu) -> None:
        """Let this be the GPU with its minor number from now on."""
        self.driver = self.driver.with_gpu(gpu)

    def publish(self, event: GpuEvent) -> None:
        """Hand an event to every session that registered for it; an XID is in the kernel's log besides."""
        gpu = self.driver.gpu(event.minor)
        if event.type == Event.XID and gpu is not None:
            self.kernel_log.extend(xid_lines(gpu, event.data, self.clock() - self.started))
        for session in self.sessions:
            session.offer(event)

    def hold(self, session: Session, allocation: Allocation) -> int:
        """Account the memory to the session's process; the number returned releases it."""
        number = self._next_allocation
        self._next_allocation += 1
        session.allocations[number] = allocation
        self._account(session, allocation, allocation.bytes)
        return number

    def release(self, session: Session, number: int) -> bool:
        """Give back what `hold` took; False when the session holds nothing by that number."""
        allocation = session.allocations.pop(number, None)
        if allocation is None:
            return False
        self._account(session, allocation, -allocation.bytes)
        return True

    def end(self, session: Session) -> None:
        """The process has gone: so have its memory and its events."""
        for number in list(session.allocations):
            self.release(session, number)
        self.sessions.discard(session)

    def _account(self, session: Session, allocation: Allocation, change: int) -> None:
        gpu = self.driver.gpu(allocation.minor)
        if gpu is None:
            return
        where = (session.pid, allocation.gpu_instance, allocation.compute_instance)
        processes = {(p.pid, p.gpu_instance, p.compute_instance): p for p in gpu.processes}
        old = processes.get(where)
        memory = (old.memory if old else 0) + change
        if memory > 0:
            processes[where] = Process(
                pid=session.pid, memory=memory, name=session.name, gpu_instance=where[1], compute_instance=where[2]
            )
        else:
            processes.pop(where, None)
        self.change_gpu(msgspec.structs.replace(gpu, processes=tuple(processes.values())))
