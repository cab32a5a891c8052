"""Carries connections from a socket of the machine into the cluster's network, where nothing of the machine reaches.

Run by the keeper inside the control plane's network namespace with a listening socket that was opened outside:
`python -m tests.cluster.relay FD HOST PORT`. So the API server answers on the machine's loopback, and no interface or
route of the machine changes.
"""

import asyncio
import contextlib
import socket
import sys

_CHUNK = 1 << 18


async def serve(listener: socket.socket, host: str, port: int) -> None:
    """Relay every connection until the process ends."""

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(host, port)
        except OSError:  # the API server is not there yet: its client sees a closed connection and tries again
            writer.close()
            return
        try:
            await asyncio.gather(_pour(reader, far_writer), _pour(far_reader, writer))
        finally:
            far_writer.close()
            writer.close()

    server = await asyncio.start_server(carry, sock=listener)
    await server.serve_forever()


async def _pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry one direction until its end of file, which is passed on; a broken connection is closed on both sides."""
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
            return
    writer.close()


def main() -> None:
    """Serve the inherited socket."""
    descriptor, host, port = sys.argv[1:]
    asyncio.run(serve(socket.socket(fileno=int(descriptor)), host, int(port)))


if __name__ == "__main__":
    main()
