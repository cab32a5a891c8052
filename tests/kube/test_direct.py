"""Answers that are read whole: connections are kept, ended and given up as those of any HTTP client."""

import asyncio
import datetime as dt
import gc
import gzip
import socket
import ssl
import threading
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path

import httpx2
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from lockgate.kube.direct import WHOLE, Direct
from tests.kube.fake_server import Answer, FakeServer, fake_server

Ask = Callable[[], Awaitable[httpx2.Response]]
BODY = b'{"items": [' + b"1, " * 400_000 + b"1]}"


@asynccontextmanager
async def client(url: str, context: ssl.SSLContext | None = None, timeout: float = 5) -> AsyncIterator[Ask]:
    """Asks for `/` again and again."""
    direct = Direct(context or ssl.create_default_context())
    async with httpx2.AsyncClient(base_url=url, transport=direct, trust_env=False, timeout=timeout) as made:
        yield lambda: made.get("/", extensions={WHOLE: True})


def run(answers: list[Answer], test: Callable[[FakeServer, Ask], Awaitable[None]], timeout: float = 5) -> None:
    async def body() -> None:
        async with fake_server(lambda _: answers.pop(0)) as server, client(server.url, timeout=timeout) as ask:
            await test(server, ask)

    asyncio.run(asyncio.wait_for(body(), 20))


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what threads and servers do in a moment; what never holds ends the test."""
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(BODY),
        Answer(lines=[BODY[at : at + 6000] for at in range(0, len(BODY), 6000)]),
        Answer(gzip.compress(BODY), headers={"Content-Encoding": "gzip"}),
    ],
)
def test_a_long_answer_arrives_whole_and_its_connection_is_used_again(answer: Answer) -> None:
    async def test(server: FakeServer, ask: Ask) -> None:
        for _ in range(3):
            assert (await ask()).content == BODY
        assert len(server.open) == 1

    run([answer] * 3, test)


def test_requests_at_the_same_time_have_connections_of_their_own() -> None:
    async def test(server: FakeServer, ask: Ask) -> None:
        answers = await asyncio.gather(*(ask() for _ in range(4)))
        assert sorted(answer.status_code for answer in answers) == [200, 201, 202, 203]
        assert len(server.open) == 4

    run([Answer(BODY, status) for status in (200, 201, 202, 203)], test)


def test_a_connection_that_the_server_closed_meanwhile_is_not_asked_again() -> None:
    async def test(server: FakeServer, ask: Ask) -> None:
        await ask()
        server.drop_connections()
        await asyncio.sleep(0.05)
        assert (await ask()).content == BODY

    run([Answer(BODY)] * 2, test)


def test_a_connection_that_is_to_be_closed_is() -> None:
    async def test(server: FakeServer, ask: Ask) -> None:
        await ask()
        await until(lambda: not server.open)

    run([Answer(BODY, headers={"Connection": "close"})], test)


def test_a_server_that_says_nothing_for_the_time_given_ends_in_a_read_timeout() -> None:
    async def test(server: FakeServer, ask: Ask) -> None:
        with pytest.raises(httpx2.ReadTimeout):
            await ask()
        assert (await ask()).content == BODY

    run([Answer(lines=[b"{", None]), Answer(BODY)], test, timeout=0.2)


def test_a_server_that_goes_on_saying_something_is_waited_for() -> None:
    async def slowly() -> AsyncIterator[bytes]:
        for _ in range(5):
            await asyncio.sleep(0.1)
            yield b"x"

    async def test(server: FakeServer, ask: Ask) -> None:
        assert (await ask()).content == b"xxxxx"

    run([Answer(stream=slowly())], test, timeout=0.3)


def test_a_cut_connection_is_told_as_httpx_tells_it() -> None:
    async def test(server: FakeServer, ask: Ask) -> None:
        with pytest.raises(httpx2.RemoteProtocolError, match="closed connection without response"):
            await ask()

    run([Answer(cut=True)], test)


def test_a_connection_on_which_somebody_gave_up_is_not_used_again() -> None:
    async def test(server: FakeServer, ask: Ask) -> None:
        before = threading.enumerate()
        asking = asyncio.ensure_future(ask())
        await until(lambda: len(threading.enumerate()) > len(before))
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert asking.cancelled()
        await until(lambda: threading.enumerate() == before)
        assert (await ask()).content == BODY

    run([Answer(lines=[None]), Answer(BODY)], test)


@pytest.mark.parametrize("headers", [{}, {"Connection": "close"}])
def test_whoever_gives_up_while_a_body_of_known_length_arrives_is_cancelled(headers: dict[str, str]) -> None:
    async def test(server: FakeServer, ask: Ask) -> None:
        before = threading.enumerate()
        asking = asyncio.ensure_future(ask())
        await asyncio.sleep(0.1)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        assert asking.cancelled()
        await until(lambda: threading.enumerate() == before)

    run([Answer(b"half", headers={"Content-Length": "8", **headers})], test)


def test_whoever_gives_up_at_once_leaves_no_thread_behind() -> None:
    async def test(server: FakeServer, ask: Ask) -> None:
        before = threading.enumerate()
        for _ in range(50):
            asking = asyncio.ensure_future(ask())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        await until(lambda: threading.enumerate() == before)

    run([Answer(lines=[None])] * 50, test)


def test_a_connection_that_is_asked_while_all_are_closed_is_closed_with_its_answer() -> None:
    async def slowly() -> AsyncIterator[bytes]:
        await asyncio.sleep(0.1)
        yield b"x"

    async def body() -> None:
        before = threading.enumerate()
        async with fake_server(lambda _: Answer(stream=slowly())) as server:
            async with client(server.url) as ask:
                asking = asyncio.ensure_future(ask())
                await until(lambda: bool(server.open))
            assert (await asking).content == b"x"
            await until(lambda: threading.enumerate() == before and not server.open)

    asyncio.run(asyncio.wait_for(body(), 20))


@pytest.mark.parametrize("first", [Answer(BODY), Answer(b"")])
def test_an_empty_answer_leaves_its_connection_fit_for_the_next_request(first: Answer) -> None:
    async def test(server: FakeServer, ask: Ask) -> None:
        answers = [(await ask()).content for _ in range(3)]
        assert answers == [first.body, b"", BODY]
        assert len(server.open) == 1

    run([first, Answer(b""), Answer(BODY)], test)


def test_connections_that_the_server_closed_are_closed_here_too() -> None:
    async def test(server: FakeServer, ask: Ask) -> None:
        await asyncio.gather(*(ask() for _ in range(4)))
        server.drop_connections()
        await asyncio.sleep(0.05)
        with warnings.catch_warnings(record=True) as seen:  # a socket that is forgotten open warns
            warnings.simplefilter("always")
            await ask()
            gc.collect()
        assert [w for w in seen if w.category is ResourceWarning] == []

    run([Answer(BODY)] * 5, test)


def test_a_length_that_no_memory_holds_is_told() -> None:
    async def test(server: FakeServer, ask: Ask) -> None:
        with pytest.raises(httpx2.RemoteProtocolError, match=r"no memory for an answer of 9{18} bytes"):
            await ask()

    run([Answer(b"x", headers={"Content-Length": "9" * 18})], test)


@pytest.mark.parametrize(("url", "port"), [("https://[fd00::1]", 443), ("http://[fd00::1]", 80)])
def test_an_ipv6_address_without_a_port_is_asked_at_that_of_its_scheme(
    url: str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[tuple[object, object]] = []

    def look_up(host: object, port: object, *_: object, **__: object) -> None:
        looked_up.append((host, port))
        raise socket.gaierror("not here")

    async def test() -> None:
        async with client(url) as ask:
            monkeypatch.setattr(socket, "getaddrinfo", look_up)
            with pytest.raises(httpx2.ConnectError, match="not here"):
                await ask()

    asyncio.run(test())
    assert looked_up == [("fd00::1", port)]


def test_no_header_ends_a_request_early() -> None:
    async def test() -> None:
        async with httpx2.AsyncClient(transport=Direct(ssl.create_default_context())) as made:
            with pytest.raises(httpx2.LocalProtocolError, match="Invalid header value"):
                await made.get("http://x", headers={"Impersonate-User": "a\r\nX: b"}, extensions={WHOLE: True})

    asyncio.run(test())


# --- TLS


def certificate(folder: Path) -> tuple[Path, Path]:
    """One for 127.0.0.1 that signed itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")]), dt.datetime.now(dt.UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - dt.timedelta(days=1)).not_valid_after(now + dt.timedelta(days=1))
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    signed = made.add_extension(address, critical=False).sign(key, hashes.SHA256())
    (folder / "crt").write_bytes(signed.public_bytes(Encoding.PEM))
    (folder / "key").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return folder / "crt", folder / "key"


def over_tls(folder: Path, *, trusted: bool) -> bytes:
    """What is read of a server twice."""
    chain, key = certificate(folder)
    theirs = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    theirs.load_cert_chain(chain, key)

    async def body() -> bytes:
        fake = FakeServer(lambda _: Answer(BODY))
        server = await asyncio.start_server(fake.serve, "127.0.0.1", 0, ssl=theirs)
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        ours = ssl.create_default_context(cafile=chain if trusted else None)
        try:
            async with client(url, ours) as ask:
                return (await ask()).content + (await ask()).content
        finally:
            server.close()
            fake.drop_connections()
            await asyncio.sleep(0.05)

    return asyncio.run(asyncio.wait_for(body(), 20))


def test_a_server_whose_certificate_is_trusted_is_read(tmp_path: Path) -> None:
    assert over_tls(tmp_path, trusted=True) == BODY + BODY


def test_a_server_whose_certificate_is_not_trusted_is_not(tmp_path: Path) -> None:
    with pytest.raises(httpx2.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
        over_tls(tmp_path, trusted=False)
