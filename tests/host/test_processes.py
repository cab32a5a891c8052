import datetime as dt
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.host.processes import NoServerError, find_process, find_server, is_running, started_at


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="pr-") as made:  # short: a socket's path has 107 bytes
        yield Path(made)


def test_the_server_of_a_socket_is_the_process_that_listens(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "s"))
        server.listen()
        found = find_server(folder / "s")
        assert found.pid == os.getpid()
        assert is_running(found)


def test_a_socket_that_nobody_serves(folder: Path) -> None:
    with pytest.raises(NoServerError, match="No such file"):
        find_server(folder / "s")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "s"))
    with pytest.raises(NoServerError, match="refused"):
        find_server(folder / "s")


def test_a_process_that_ended_is_gone_even_before_anyone_waits_for_it() -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    found = find_process(child.pid)
    assert found is not None
    child.communicate(b"\n")
    assert not is_running(found)


def test_a_later_process_of_the_same_number_is_another_one(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    stat = tmp_path / "7/stat"
    fields = ["S", *["0"] * 18, "111", "0"]
    stat.write_text(f"7 (a name) with ) and spaces) {' '.join(fields)}")
    first = find_process(7, proc=tmp_path)
    assert first is not None
    stat.write_text(stat.read_text().replace("111", "222"))
    assert not is_running(first, proc=tmp_path)


def test_when_a_process_was_started() -> None:
    before = dt.datetime.now(dt.UTC)
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    found = find_process(child.pid)
    assert found is not None
    assert abs(started_at(found) - before) <= dt.timedelta(seconds=2)
    child.communicate(b"\n")
