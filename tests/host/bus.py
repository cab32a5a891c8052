"""A real dbus-daemon as a system bus, and a stand-in for systemd on it that keeps a few units.

Run as a program it is the stand-in: `bus.py ADDRESS`, and it writes each call that it gets.
"""

import asyncio
import contextlib
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jeepney import DBusAddress, HeaderFields, Message, message_bus, new_error, new_method_return, new_signal
from jeepney.io.asyncio import open_dbus_connection

NAME, PATH, MANAGER = "org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"
CONFIG = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={socket}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow user="*"/><allow own="*"/>
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/></policy></busconfig>
"""
# How the restart of each unit ends; of `slow.service` it never does.
RESULTS = {"containerd.service": "done", "broken.service": "failed", "slow.service": ""}


@contextlib.contextmanager
def system_bus(host: Path) -> Iterator[Path]:
    """A bus at `<host>/run/dbus/system_bus_socket` with the stand-in on it; yields the stand-in's log."""
    if shutil.which("dbus-daemon") is None:
        pytest.skip("needs dbus-daemon (Debian: dbus-daemon)")
    socket, log = host / "run/dbus/system_bus_socket", host / "systemd.log"
    socket.parent.mkdir(parents=True)
    (host / "bus.conf").write_text(CONFIG.format(socket=socket))
    with log.open("wb") as output, contextlib.ExitStack() as stack:
        daemon = ("dbus-daemon", "--nofork", "--print-address", f"--config-file={host / 'bus.conf'}")
        process = stack.enter_context(running(daemon, subprocess.PIPE))
        assert process.stdout
        address = process.stdout.readline().decode().strip()
        stack.enter_context(running((sys.executable, __file__, address), output))
        until = time.monotonic() + 20
        while b"ready" not in log.read_bytes():
            assert time.monotonic() < until, "the stand-in is not on the bus"
            time.sleep(0.02)
        yield log


@contextlib.contextmanager
def running(command: tuple[str, ...], output: object) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the block."""
    with subprocess.Popen(command, stdout=output) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.terminate()


async def stand_in(address: str) -> None:
    """Answer as systemd does: a job first, its end as a signal."""
    connection = await open_dbus_connection(address)
    await connection.send(message_bus.RequestName(NAME))
    print("ready", flush=True)
    jobs = 0
    while True:
        call = await connection.receive()
        member = call.header.fields.get(HeaderFields.member)
        if member not in ("Subscribe", "RestartUnit"):
            continue
        print(member, *call.body, flush=True)
        jobs += 1
        for answer in answers(call, member, jobs):
            await connection.send(answer)


def answers(call: Message, member: str, job: int) -> Iterator[Message]:
    """What goes back, in order."""
    if member == "Subscribe":
        yield new_method_return(call)
        return
    unit = call.body[0]
    if unit not in RESULTS:
        yield new_error(call, f"{NAME}.NoSuchUnit", "s", (f"Unit {unit} not found.",))
        return
    path, emitter = f"{PATH}/job/{job}", DBusAddress(PATH, interface=MANAGER)
    yield new_method_return(call, "o", (path,))
    yield new_signal(emitter, "JobRemoved", "uoss", (job + 1000, f"{PATH}/job/0", "other.service", "canceled"))
    if RESULTS[unit]:
        yield new_signal(emitter, "JobRemoved", "uoss", (job, path, unit, RESULTS[unit]))


if __name__ == "__main__":
    asyncio.run(stand_in(sys.argv[1]))
