"""Restarts the container runtime and waits for it to be back: by signal, through systemd, or not at all.

By signal as NVIDIA's toolkit does: the process that serves the socket gets SIGHUP, which containerd does not handle and
so ends; whatever keeps it running on this node (systemd, K3s, a supervisor) starts it again. Nothing is ever killed
with SIGKILL: a runtime that does not end is reported.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from lockgate.apply.files import Checkpoint, onward
from lockgate.host.processes import NoServerError, Process, find_server, is_running
from lockgate.host.systemd import BUS, SystemdError, restart_unit

MODES: Final = ("signal", "systemd", "none")
_POLL: Final = 0.1  # seconds between looks

T = TypeVar("T")
_log = logging.getLogger("lockgate.service")


class RestartError(Exception):
    """The runtime did not restart, or did not come back; the text says how far it went."""


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """A container runtime and how it is restarted. `socket` and `host`, the host's root, are paths here.

    `unit` is what systemd knows it by: a distribution's containerd is a child of the distribution's own service.
    `reloads`: it stays and reads its files again at SIGHUP, as dockerd does, where containerd ends.
    """

    name: str = "containerd"
    unit: str = "containerd.service"
    socket: Path = Path("/run/containerd/containerd.sock")
    mode: str = "signal"
    reloads: bool = False
    host: Path = Path("/host")
    ends_within: float = 20.0  # seconds after the signal
    back_within: float = 60.0  # seconds after its end


async def restart(service: Service, *, checkpoint: Checkpoint = onward) -> Process | None:
    """Restart and wait until another process serves the socket; None in mode `none`. Raises RestartError.

    A runtime that is down already is only waited for: what ended it may be the configuration that was just mended.
    """
    if service.mode == "none":
        _log.warning("%s is not restarted (restart mode none): it loads the new files when someone does", service.name)
        return None
    before = _server(service)
    checkpoint("before restarting")
    if service.mode == "systemd":
        await _systemd(service)
    elif before is not None and service.reloads:
        _hang_up(service, before)
        checkpoint("after signalling")
        return before
    elif before is not None:
        await _signal(service, before, checkpoint)
    checkpoint("while it is down")
    after = await wait_for_server(service, before, checkpoint=checkpoint)
    checkpoint("after restarting")
    return after


def is_down(service: Service) -> bool:
    """Whether nobody serves the socket now: it has ended, or has not come far enough with its start."""
    return _server(service) is None


async def wait_for_server(service: Service, other_than: Process | None, *, checkpoint: Checkpoint = onward) -> Process:
    """Wait until a process other than the given one serves the socket. Raises RestartError."""

    def look() -> Process | None:
        checkpoint("waiting for it to come back")
        return _other(service, other_than)

    after = await _until(look, service.back_within)
    if after is None:
        seconds = f"{service.back_within:.0f} s"
        raise RestartError(f"{service.name} has not come back within {seconds}: nobody serves {service.socket}")
    return after


def _other(service: Service, than: Process | None) -> Process | None:
    found = _server(service)
    return found if found != than else None


def _server(service: Service) -> Process | None:
    try:
        return find_server(service.socket)
    except NoServerError:
        return None


async def _signal(service: Service, process: Process, checkpoint: Checkpoint) -> None:
    def look() -> bool | None:
        checkpoint("waiting for it to end")
        return not is_running(process) or None

    _hang_up(service, process)
    checkpoint("after signalling")
    ended = await _until(look, service.ends_within)
    if ended is None:
        raise RestartError(
            f"{service.name} (process {process.pid}) has not ended within {service.ends_within:.0f} s of SIGHUP"
        )


def _hang_up(service: Service, process: Process) -> None:
    """Raises RestartError when that is not allowed; a process that has just ended needs no signal."""
    _log.info(
        "%s %s: SIGHUP to process %d", "reloading" if service.reloads else "restarting", service.name, process.pid
    )
    try:
        os.kill(process.pid, signal.SIGHUP)
    except ProcessLookupError:
        return
    except PermissionError as error:
        raise RestartError(f"{service.name} (process {process.pid}) may not be signalled from here") from error


async def _systemd(service: Service) -> None:
    """Over the host's bus where there is one, else by the host's own systemctl."""
    bus, patience = service.host / BUS, service.ends_within + service.back_within
    if not bus.is_socket():
        return await _systemctl(service, patience)
    _log.info("restarting %s: RestartUnit over %s", service.unit, bus)
    try:
        await restart_unit(bus, service.unit, patience)
    except SystemdError as error:
        raise RestartError(str(error)) from error


async def _systemctl(service: Service, patience: float) -> None:
    _log.info("restarting %s: systemctl restart in %s", service.unit, service.host)
    command = ("chroot", str(service.host), "systemctl", "restart", service.unit)
    try:
        child = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    except OSError as error:
        raise RestartError(f"{' '.join(command)}: {error}") from error
    try:
        _, text = await asyncio.wait_for(child.communicate(), patience)
    except TimeoutError:
        child.kill()
        await child.wait()
        raise RestartError(f"{' '.join(command)}: no answer") from None
    if child.returncode != 0:
        raise RestartError(f"{' '.join(command)}: {text.decode(errors='replace').strip()}")


async def _until(look: Callable[[], T | None], seconds: float) -> T | None:
    for _ in range(int(seconds / _POLL)):
        if (found := look()) is not None:
            return found
        await asyncio.sleep(_POLL)
    return look()
