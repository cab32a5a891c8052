"""The container runtime as it is running: its release and the configuration that it has *loaded*, asked over CRI.

Two calls of `runtime.v1.RuntimeService` are used, Version and a verbose Status. Their messages have so few fields that
they are read from the wire here, instead of by code generated from the 2,000 lines of CRI's `api.proto` (v0.37.2).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from grpc import StatusCode, aio


class UnreachableError(Exception):
    """The runtime did not answer, or answered with an error; the text says which socket and why."""


class Version(msgspec.Struct, frozen=True):
    """`release` as the runtime prints it (`v2.4.2`, `1.7.24~ds1`)."""

    name: str
    release: str


class LoadedRuntime(msgspec.Struct, frozen=True, rename="camel"):
    """One handler of containerd's CRI configuration, as `info["config"]` of Status has it."""

    runtime_type: str = ""
    options: dict[str, Any] | None = None


class _Containerd(msgspec.Struct, frozen=True, rename="camel"):
    default_runtime_name: str = ""
    runtimes: dict[str, LoadedRuntime] = {}


class Loaded(msgspec.Struct, frozen=True, rename="camel"):
    """containerd's CRI configuration in memory. `enable_cdi` is None on releases without the switch (1.6, 2.4)."""

    containerd: _Containerd = _Containerd()
    enable_cdi: bool | None = msgspec.field(default=None, name="enableCDI")
    cdi_spec_dirs: tuple[str, ...] | None = None


async def ask_version(socket: Path, timeout: float = 5.0) -> Version:
    """Which runtime this is. Raises UnreachableError."""
    fields = _texts(await _call(socket, "Version", b"", timeout))
    return Version(name=fields.get(2, ""), release=fields.get(3, ""))


async def ask_loaded(socket: Path, timeout: float = 5.0) -> Loaded:
    """What containerd has loaded. Raises UnreachableError, also when the answer has no configuration in it."""
    answer = await _call(socket, "Status", b"\x08\x01", timeout)  # verbose = true
    info = dict(_entry(value) for number, value in _fields(answer) if number == 2)
    try:
        return msgspec.json.decode(info["config"], type=Loaded)
    except KeyError:
        raise UnreachableError(f"{socket}: Status has no configuration, only {', '.join(info) or 'nothing'}") from None
    except msgspec.MsgspecError as error:
        raise UnreachableError(f"{socket}: Status has a configuration that cannot be read: {error}") from error


async def ask_handlers(socket: Path, timeout: float = 5.0) -> tuple[str, ...]:
    """The names of the runtime handlers that are loaded, of any runtime; empty where it does not tell.

    Field `runtime_handlers` came with CRI of Kubernetes 1.30; the default handler may be there under the empty name
    besides its own. Raises UnreachableError.
    """
    answer = await _call(socket, "Status", b"", timeout)
    return tuple(_texts(value).get(1, "") for number, value in _fields(answer) if number == 3)


async def _call(socket: Path, method: str, request: bytes, timeout: float) -> bytes:
    # gRPC would send the escaped path as authority, which Go servers refuse
    options = [("grpc.default_authority", "localhost"), ("grpc.max_receive_message_length", 64 << 20)]
    async with aio.insecure_channel(f"unix:{socket.absolute()}", options=options) as channel:
        remote = channel.unary_unary(f"/runtime.v1.RuntimeService/{method}", bytes, bytes)
        try:
            return bytes(await remote(request, timeout=timeout))
        except aio.AioRpcError as error:
            hint = " (is its CRI plugin disabled?)" if error.code() is StatusCode.UNIMPLEMENTED else ""
            raise UnreachableError(f"{socket}: {method}: {error.code().name}: {error.details()}{hint}") from error


def _texts(message: bytes) -> dict[int, str]:
    return {number: value.decode("utf-8", "replace") for number, value in _fields(message)}


def _entry(message: bytes) -> tuple[str, str]:
    """A pair of a map<string, string>."""
    fields = _texts(message)
    return fields.get(1, ""), fields.get(2, "")


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The length-delimited fields of a protobuf message; others are skipped."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        match key & 7:
            case 0:
                _, at = _varint(message, at)
            case 1:
                at += 8
            case 2:
                size, at = _varint(message, at)
                yield key >> 3, message[at : at + size]
                at += size
            case 5:
                at += 4
            case other:
                raise UnreachableError(f"the runtime's answer has a field of unknown wire type {other}")


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message):
        byte = message[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise UnreachableError("the runtime's answer ends in the middle of a number")
