"""Channels to the kubelet's unix sockets."""

from pathlib import Path
from typing import Any

from grpc import aio


class UnreachableError(Exception):
    """The kubelet did not answer, or answered with an error; the text says which socket and why."""


def open_channel(socket: Path) -> aio.Channel:
    """A channel to this socket. gRPC would send the escaped path as authority, which Go servers refuse."""
    return aio.insecure_channel(f"unix:{socket}", options=[("grpc.default_authority", "localhost")])


async def call(socket: Path, method: str, request: Any, parse: Any, timeout: float) -> Any:
    """One unary call; raises UnreachableError."""
    async with open_channel(socket) as channel:
        remote = channel.unary_unary(
            method, request_serializer=type(request).SerializeToString, response_deserializer=parse
        )
        try:
            return await remote(request, timeout=timeout)
        except aio.AioRpcError as error:
            raise UnreachableError(f"{socket}: {method}: {error.code().name}: {error.details()}") from error
