"""The supervisor keeps programs running and does what it is asked: here with small programs and without root."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from tests.cluster.repository import REPOSITORY
from tests.cluster.spec import Program
from tests.cluster.supervisor_client import Supervisor

_RUN = """
import sys
from pathlib import Path
import msgspec
from tests.cluster.spec import Program
from tests.cluster.supervisor import Supervisor
folder = Path(sys.argv[1])
programs = msgspec.json.decode((folder / "programs.json").read_bytes(), type=tuple[Program, ...])
Supervisor(programs, folder / "socket", folder / "log").run()
"""


@pytest.fixture
def supervise(tmp_path: Path) -> Iterator[Callable[..., Supervisor]]:
    """Starts a supervisor for programs; it and they are gone at the end."""
    started: list[subprocess.Popen[bytes]] = []

    def run(*programs: Program) -> Supervisor:
        (tmp_path / "programs.json").write_bytes(msgspec.json.encode(programs))
        command = [sys.executable, "-c", _RUN, str(tmp_path)]
        started.append(subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(REPOSITORY)}))
        wait_until((tmp_path / "socket").exists)
        return Supervisor(tmp_path / "socket")

    yield run
    for process in started:
        running = [state.pid for state in Supervisor(tmp_path / "socket").status().values() if state.pid]
        process.kill()
        process.wait()
        for pid in running:
            os.kill(pid, signal.SIGKILL)


def wait_until(condition: Callable[[], object], timeout: float = 60.0) -> None:
    until = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < until, "not in time"
        time.sleep(0.02)


SLEEPER = Program(name="sleeper", argv=("/bin/sleep", "1000"))


def test_a_program_that_is_killed_is_started_again(supervise: Callable[..., Supervisor]) -> None:
    supervisor = supervise(SLEEPER)
    wait_until(lambda: supervisor.status()["sleeper"].pid)
    first = supervisor.status()["sleeper"].pid
    supervisor.kill("sleeper")
    wait_until(lambda: supervisor.status()["sleeper"].starts == 2)
    again = supervisor.status()["sleeper"]
    assert again.pid not in (0, first)
    assert again.last_exit == -signal.SIGKILL


def test_a_stopped_program_stays_stopped_until_it_is_started(supervise: Callable[..., Supervisor]) -> None:
    supervisor = supervise(SLEEPER)
    wait_until(lambda: supervisor.status()["sleeper"].pid)
    supervisor.stop("sleeper")
    time.sleep(0.8)
    assert supervisor.status()["sleeper"].pid == 0
    supervisor.start("sleeper")
    assert supervisor.status()["sleeper"].pid > 0


def test_a_restart_ends_and_starts_without_the_usual_pause(supervise: Callable[..., Supervisor]) -> None:
    supervisor = supervise(SLEEPER)
    wait_until(lambda: supervisor.status()["sleeper"].pid)

    def restarted() -> float:
        began = time.monotonic()
        supervisor.restart("sleeper")
        return time.monotonic() - began

    # On a busy machine one of them may be held up by others; the pause of half a second would be in each.
    assert any(restarted() < 0.5 for _ in range(20))
    assert supervisor.status()["sleeper"].last_exit == -signal.SIGTERM


def test_a_frozen_program_stands_still_until_it_is_thawed(supervise: Callable[..., Supervisor]) -> None:
    supervisor = supervise(SLEEPER)
    wait_until(lambda: supervisor.status()["sleeper"].pid)
    pid = supervisor.status()["sleeper"].pid
    supervisor.freeze("sleeper")
    wait_until(lambda: process_state(pid) == "T")
    assert supervisor.status()["sleeper"].frozen
    supervisor.thaw("sleeper")
    wait_until(lambda: process_state(pid) == "S")


def process_state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_program_waits_for_the_path_it_needs(supervise: Callable[..., Supervisor], tmp_path: Path) -> None:
    needed = tmp_path / "needed"
    supervisor = supervise(Program(name="late", argv=("/bin/sleep", "1000"), waits_for=(str(needed),)))
    time.sleep(0.3)
    assert supervisor.status()["late"].starts == 0
    needed.touch()
    wait_until(lambda: supervisor.status()["late"].pid)


def test_output_is_kept_and_a_program_that_is_not_there_is_said(
    supervise: Callable[..., Supervisor], tmp_path: Path
) -> None:
    supervise(
        Program(name="talker", argv=("/bin/sh", "-c", "echo $WORD; sleep 1000"), env={"WORD": "hello"}),
        Program(name="absent", argv=("/no/such/program",)),
    )
    wait_until(lambda: (tmp_path / "log/talker.log").exists() and (tmp_path / "log/talker.log").read_text())
    assert (tmp_path / "log/talker.log").read_text() == "hello\n"
    absent = tmp_path / "log/absent.log"
    wait_until(lambda: absent.exists() and "cannot start /no/such/program" in absent.read_text())


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (b"not json\n", "malformed"),
        (b'{"verb": "stop", "name": "nobody"}\n', "nobody"),
        (b'{"verb": "dance", "name": "sleeper"}\n', 'no verb \\"dance\\"'),
        (b"\n", "truncated"),
    ],
)
def test_what_cannot_be_done_is_answered_and_the_programs_go_on(
    asked: bytes, answer: str, supervise: Callable[..., Supervisor], tmp_path: Path
) -> None:
    supervisor = supervise(SLEEPER)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(tmp_path / "socket"))
        connection.sendall(asked)
        reply = connection.makefile().readline()
    assert answer in reply
    assert json.loads(reply).keys() == {"error"}
    assert supervisor.status()["sleeper"].pid > 0
