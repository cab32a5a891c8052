"""The Docker daemon's answer is read as HTTP/1.0 over its socket; whatever is not that answer is told in one line."""

import asyncio
import json
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.host.cri import UnreachableError
from lockgate.host.docker import Info, ask_info, flags_of

INFO = {
    "ServerVersion": "26.1.5+dfsg1",
    "DefaultRuntime": "runc",
    "Runtimes": {"runc": {"path": "runc", "status": {"org.opencontainers.runtime-spec.features": "{}"}}},
    "CDISpecDirs": ["/etc/cdi", "/var/run/cdi"],
    "NCPU": 2,
}


@pytest.fixture
def path() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="dk-") as folder:
        yield Path(folder) / "s"


def asked(path: Path, answer: bytes) -> Info:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        assert (await reader.readline()).startswith(b"GET /info HTTP/1.0")
        writer.write(answer)
        writer.close()

    async def run() -> Info:
        async with await asyncio.start_unix_server(serve, path):
            return await ask_info(path)

    return asyncio.run(run())


def http(status: str, body: bytes) -> bytes:
    return f"HTTP/1.0 {status}\r\nContent-Type: application/json\r\n\r\n".encode() + body


def test_what_the_daemon_has_loaded(path: Path) -> None:
    info = asked(path, http("200 OK", json.dumps(INFO).encode()))
    assert (info.server_version, info.default_runtime, set(info.runtimes)) == ("26.1.5+dfsg1", "runc", {"runc"})
    assert info.cdi_spec_dirs == ("/etc/cdi", "/var/run/cdi")


@pytest.mark.parametrize("without", [{}, {"CDISpecDirs": None}, {"CDISpecDirs": []}])
def test_a_daemon_without_cdi(path: Path, without: dict[str, object]) -> None:
    told = {key: value for key, value in INFO.items() if key != "CDISpecDirs"} | without
    assert not asked(path, http("200 OK", json.dumps(told).encode())).cdi_spec_dirs


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (http("500 Internal Server Error", b"{}"), "GET /info: answered 'HTTP/1.0 500 Internal Server Error'"),
        (http("200 OK", b"<html>"), "GET /info: JSON is malformed"),
        (b"", "GET /info: answered ''"),
    ],
)
def test_another_answer_is_told(path: Path, answer: bytes, words: str) -> None:
    with pytest.raises(UnreachableError) as raised:
        asked(path, answer)
    assert words in str(raised.value)
    assert str(path) in str(raised.value)


def test_nobody_serves_the_socket(path: Path) -> None:
    with pytest.raises(UnreachableError, match="No such file"):
        asyncio.run(ask_info(path))


def test_the_command_line_of_the_process_that_serves(path: Path, tmp_path: Path) -> None:
    """Asked of this very process, and of a /proc in which it is not to be seen."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        assert flags_of(path), "this process has arguments"
        assert flags_of(path, proc=tmp_path) == (), "and cannot be seen from elsewhere"
