"""A server on the simulator's socket that answers anything at all: well-formed lies, garbage, a slammed door."""

import random
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TOKENS = (
    b"0",
    b"1",
    b"7",
    b"19",
    b"255",
    b"4294967295",
    b"4294967296",
    b"18446744073709551615",
    b"99999999999999999999999",
    b"-1",
    b"-9223372036854775808",
    b"@0",
    b"@1",
    b"@0/7",
    b"@0/7/0",
    b"@63/31/15",
    b"@9999/9999/9999",
    b"@0/0/0/0",
    b"@",
    b"@-1",
    b"'",
    b"'NVIDIA%20A100",
    b"'%00",
    b"'%zz",
    b"'%4",
    b"'" + b"x" * 300,
    b"'302cac63-79d9-5ac0-8220-8c0f493b764d",
    b"\x00",
    b"\xff\xfe",
)


@contextmanager
def lying_on(path: Path, seed: int) -> Iterator[None]:
    """Answer on the socket until the context ends; the same seed lies the same way."""

    class Liar(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            generator = random.Random(f"{seed}/{threading.get_ident()}")
            try:
                while line := self.rfile.readline():
                    reply = _lie(generator, line)
                    self.wfile.write(reply)
                    if not reply.endswith(b"\n"):
                        return
            except OSError:
                return  # the client has had enough

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True
        request_queue_size = 256

        def handle_error(self, request: object, client_address: object) -> None:
            raise AssertionError("the liar itself has a bug")

    with Server(str(path), Liar) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


def _lie(generator: random.Random, request: bytes) -> bytes:
    if request.startswith(b"hello") and generator.random() < 0.9:
        return b"0\n"
    match generator.randrange(40):
        case 0:
            return generator.randbytes(generator.randrange(1, 200))
        case 1:
            return b"0 " + b"1 " * 40_000 + b"\n"
        case 2:
            return b""
        case 3:
            return b"0 1\n0 1\n"
        case 4:
            return b"\n"
        case 5:
            return str(generator.randrange(-5, 2000)).encode() + b"\n"
        case _:
            tokens = [generator.choice(TOKENS) for _ in range(generator.randrange(0, 14))]
            return b" ".join([b"0", *tokens]) + b"\n"
