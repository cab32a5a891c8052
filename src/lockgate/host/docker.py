"""The Docker daemon as it is running, asked over its API's `/info`; and the command line that it was started with."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from lockgate.host.cri import UnreachableError
from lockgate.host.processes import PROC, NoServerError, find_server


class Info(msgspec.Struct, frozen=True, rename="pascal"):
    """What the daemon has loaded. `cdi_spec_dirs` is empty while CDI is off (Docker 25 and later)."""

    server_version: str = ""
    runtimes: dict[str, dict[str, Any]] = {}
    default_runtime: str = ""
    cdi_spec_dirs: tuple[str, ...] | None = msgspec.field(default=None, name="CDISpecDirs")


async def ask_info(socket: Path, timeout: float = 5.0) -> Info:
    """Raises UnreachableError."""
    try:
        body = await asyncio.wait_for(_get(socket, "/info"), timeout)
        return msgspec.json.decode(body, type=Info)
    except (OSError, TimeoutError, ValueError) as error:
        raise UnreachableError(f"{socket}: GET /info: {str(error) or 'no answer'}") from error


async def _get(socket: Path, path: str) -> bytes:
    """The body of an answer; HTTP/1.0, so that it ends with the connection. Raises OSError, ValueError."""
    reader, writer = await asyncio.open_unix_connection(socket)
    try:
        writer.write(f"GET {path} HTTP/1.0\r\nHost: docker\r\n\r\n".encode())
        head, _, body = (await reader.read(-1)).partition(b"\r\n\r\n")
    finally:
        writer.close()
    status = head.partition(b"\r\n")[0].decode("ascii", "replace")
    if status.split(" ")[1:2] != ["200"]:
        raise ValueError(f"answered {status!r}")
    return body


def flags_of(socket: Path, *, proc: Path = PROC) -> tuple[str, ...]:
    """The command line of the daemon that serves a socket; empty where it cannot be seen from here."""
    try:
        pid = find_server(socket, proc=proc).pid
        return tuple((proc / str(pid) / "cmdline").read_text(errors="replace").split("\0")[1:-1])
    except (NoServerError, OSError):
        return ()
