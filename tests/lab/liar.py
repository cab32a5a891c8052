"""A server on the simulator's socket that lies: half truths that lead a program on, garbage, a slammed door."""

import asyncio
import itertools
import random
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lockgate.lab.boards import parse_boards
from lockgate.lab.dispatch import reply_to
from lockgate.lab.machine import Machine, Session
from lockgate.lab.state import new_driver

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
    """Answer on the socket until the context ends: greetings honestly, the rest most of the time."""
    connections = itertools.count()
    machine = Machine(new_driver(parse_boards("A100-40GB,H100-80GB")))

    class Liar(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            generator, session = random.Random(f"{seed}/{next(connections)}"), Session()
            try:
                while line := self.rfile.readline():
                    truth = asyncio.run(reply_to(machine, session, line))
                    reply = truth if line.startswith(b"hello") else _bend(generator, truth)
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


def _bend(generator: random.Random, truth: bytes) -> bytes:
    """The true reply, or one with a token exchanged, added or dropped, or nothing like it."""
    tokens = truth.split()
    place = generator.randrange(len(tokens))
    match generator.randrange(20):
        case 0:
            tokens[place] = generator.choice(TOKENS)
        case 1:
            tokens.insert(place, generator.choice(TOKENS))
        case 2:
            del tokens[place]
        case 3:
            return _garbage(generator)
        case _:
            return truth
    return b" ".join(tokens) + b"\n"


def _garbage(generator: random.Random) -> bytes:
    match generator.randrange(6):
        case 0:
            return generator.randbytes(generator.randrange(1, 200))
        case 1:
            return b"0 " + b"1 " * 40_000 + b"\n"
        case 2:
            return b""
        case 3:
            return b"0 1\n0 1\n"
        case 4:
            return str(generator.randrange(-5, 2000)).encode() + b"\n"
        case _:
            tokens = [generator.choice(TOKENS) for _ in range(generator.randrange(0, 14))]
            return b" ".join([b"0", *tokens]) + b"\n"
