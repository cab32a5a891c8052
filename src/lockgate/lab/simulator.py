"""The simulated driver as a program: a unix socket that driver libraries and tests talk to.

python -m lockgate.lab.simulator --socket PATH --gpus "2xA100-SXM4-40GB,T4" [--driver-version V] [--seed NAME]
    [--state FILE]
"""

import argparse
import asyncio
import contextlib
import signal
import socket
import struct
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec

from lockgate.lab.address import socket_address
from lockgate.lab.boards import parse_boards
from lockgate.lab.commands import run_command
from lockgate.lab.dispatch import reply_to
from lockgate.lab.machine import Machine, Session
from lockgate.lab.state import CUDA_VERSION, DRIVER_VERSION, Driver, new_driver
from lockgate.lab.wire import LINE_LIMIT


@contextlib.asynccontextmanager
async def serving(machine: Machine, path: Path, state: Path | None = None) -> AsyncIterator[None]:
    """Answer on the socket while the context lasts. Any process may connect, as with NVIDIA's device nodes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # a socket that a killed simulator left

    clients: set[asyncio.Task[None]] = set()

    def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = asyncio.create_task(_serve_client(machine, state, reader, writer))
        clients.add(client)
        client.add_done_callback(clients.discard)

    with socket_address(path) as address:
        server = await asyncio.start_unix_server(connected, address, limit=LINE_LIMIT, backlog=512)
    path.chmod(0o777)
    try:
        yield
    finally:
        server.close()
        for client in clients:
            client.cancel()
        await asyncio.gather(*clients, return_exceptions=True)
        path.unlink(missing_ok=True)


async def _serve_client(
    machine: Machine, state: Path | None, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    pid = _peer_pid(writer)
    session = Session(pid, _process_name(pid))
    machine.sessions.add(session)
    try:
        while (line := await _read_line(reader)) is not None:
            writer.write(await _reply(machine, session, state, line))
            await writer.drain()
    except ConnectionError:
        pass  # the client has gone; so has its session
    finally:
        machine.end(session)
        writer.close()


async def _read_line(reader: asyncio.StreamReader) -> bytes | None:
    """The next whole line; None at the end, or when a line is longer than the protocol allows."""
    try:
        return await reader.readuntil(b"\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None


async def _reply(machine: Machine, session: Session, state: Path | None, line: bytes) -> bytes:
    if not line.startswith(b"{"):
        return await reply_to(machine, session, line)
    before = machine.driver
    reply = run_command(machine, line)
    if state is not None and machine.driver is not before:
        save(machine.driver, state)
    return reply


def _peer_pid(writer: asyncio.StreamWriter) -> int:
    """The client's process id in our own PID namespace, as the kernel tells it."""
    peer = writer.get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", peer)[0])


def _process_name(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/exe").readlink()) if pid else "[Not Found]"
    except OSError:
        return "[Not Found]"


def save(driver: Driver, path: Path) -> None:
    """Write the state so that a crash leaves the old or the new one."""
    temporary = path.with_name(path.name + ".new")
    temporary.write_bytes(msgspec.json.format(msgspec.json.encode(driver)))
    temporary.replace(path)


def load(path: Path) -> Driver:
    """The state as saved, without the processes of then. SystemExit with one line when the file is not a state."""
    try:
        driver = msgspec.json.decode(path.read_bytes(), type=Driver)
    except msgspec.DecodeError as error:
        raise SystemExit(f"{path}: {error}") from error
    gpus = tuple(msgspec.structs.replace(gpu, processes=()) for gpu in driver.gpus)
    return msgspec.structs.replace(driver, gpus=gpus)


def parse_arguments(argv: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="lockgate.lab.simulator", description="A simulated NVIDIA driver.")
    parser.add_argument("--socket", type=Path, required=True, help="where libnvidia-ml.so.1 looks for it")
    parser.add_argument("--gpus", default="", help='boards, such as "2xA100-SXM4-40GB,T4"')
    parser.add_argument("--driver-version", default=DRIVER_VERSION)
    parser.add_argument("--cuda-version", type=int, default=CUDA_VERSION, help="1000 * major + 10 * minor")
    parser.add_argument("--seed", default="node", help="what UUIDs and serial numbers follow from: the node's name")
    parser.add_argument("--state", type=Path, help="file that keeps the state across restarts")
    return parser.parse_args(argv)


async def run(arguments: argparse.Namespace) -> None:
    """Serve until SIGTERM or SIGINT."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with serving(Machine(_initial_driver(arguments)), arguments.socket, arguments.state):
        print(f"serving on {arguments.socket}", flush=True)
        await stop.wait()


def _initial_driver(arguments: argparse.Namespace) -> Driver:
    if arguments.state is not None and arguments.state.exists():
        return load(arguments.state)
    try:
        boards = parse_boards(arguments.gpus)
    except ValueError as error:
        raise SystemExit(f"--gpus: {error}") from error
    return new_driver(boards, arguments.seed, arguments.driver_version, arguments.cuda_version)


def main(argv: list[str] | None = None) -> int:
    """Run the simulator; 0 when it was asked to stop."""
    asyncio.run(run(parse_arguments(argv)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
