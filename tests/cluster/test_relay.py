"""The relay carries bytes both ways, passes on each end's end, and survives a far side that is not there."""

import asyncio
import socket

from tests.cluster import relay


async def _with_relay(far_port: int, send: bytes) -> bytes:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        serving = asyncio.create_task(relay.serve(listener, "127.0.0.1", far_port))
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.getsockname()[1])
        writer.write(send)
        writer.write_eof()
        received = await reader.read(-1)
        writer.close()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
    return received


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    asked = await reader.read(-1)  # ends only when the relay passes on the client's end of file
    writer.write(asked.upper())
    await writer.drain()
    writer.close()


def test_a_megabyte_goes_there_and_comes_back() -> None:
    async def scenario() -> bytes:
        async with await asyncio.start_server(_answer, "127.0.0.1", 0) as far:
            return await _with_relay(far.sockets[0].getsockname()[1], b"abc" * 350_000)

    assert asyncio.run(scenario()) == b"ABC" * 350_000


def test_a_client_of_a_far_side_that_is_not_there_sees_a_closed_connection() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert asyncio.run(_with_relay(port, b"")) == b""
