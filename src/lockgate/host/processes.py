"""Processes of the node: which one serves a unix socket, whether it is still the same one, how it was started."""

import datetime as dt
import os
import socket
import struct
from pathlib import Path
from typing import Final

import msgspec

PROC: Final = Path("/proc")
_CREDENTIALS: Final = struct.Struct("3i")  # pid, uid, gid of SO_PEERCRED


class Process(msgspec.Struct, frozen=True):
    """A process that cannot be mistaken for a later one of the same number: `started` is in clock ticks since boot."""

    pid: int
    started: int


class NoServerError(Exception):
    """Nobody serves a socket that this process can see; the text says which socket and why."""


def find_server(path: Path, *, proc: Path = PROC, timeout: float = 2.0) -> Process:
    """The process that listens on a unix socket. Raises NoServerError."""
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
            client.settimeout(timeout)
            client.connect(str(path))
            credentials = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    except OSError as error:
        raise NoServerError(f"{path}: {error.strerror or error}") from error
    pid, _, _ = _CREDENTIALS.unpack(credentials)
    found = find_process(pid, proc=proc) if pid else None
    if found is None:
        raise NoServerError(f"{path}: its server is not visible from here (is hostPID set?)")
    return found


def find_process(pid: int, *, proc: Path = PROC) -> Process | None:
    """The process of a number; None when there is none, or only a dead one that nobody has waited for."""
    try:
        text = (proc / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(")") + 2 :].split()  # the name in brackets may hold anything
    return None if fields[0] in ("Z", "X") else Process(pid=pid, started=int(fields[19]))


def is_running(process: Process, *, proc: Path = PROC) -> bool:
    """Whether this very process still runs."""
    return find_process(process.pid, proc=proc) == process


def started_at(process: Process, *, proc: Path = PROC) -> dt.datetime:
    """When a process was started, to the second: the time of boot is known no better, and moves with the clock.

    Raises OSError, ValueError or StopIteration where /proc/stat does not tell when the machine was started.
    """
    boot = next(int(line[6:]) for line in (proc / "stat").read_text().splitlines() if line.startswith("btime "))
    return dt.datetime.fromtimestamp(boot + process.started // os.sysconf("SC_CLK_TCK"), dt.UTC)
