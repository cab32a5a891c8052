"""Asking a node's supervisor to stop, start, restart, freeze or kill a program, and waiting until it has happened."""

import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from tests.cluster.supervisor import Request, State


class _Reply(msgspec.Struct, frozen=True):
    programs: dict[str, State] = {}
    error: str = ""


class Supervisor:
    """The programs of one namespace, by the supervisor's socket. Every verb returns when its effect is seen."""

    def __init__(self, socket_path: Path) -> None:
        self._path = socket_path

    def status(self) -> dict[str, State]:
        """How each program is."""
        return self._ask(Request("status"))

    def start(self, name: str) -> None:
        """Start a program that was stopped."""
        self._ask(Request("start", name))
        self._wait(name, lambda state: state.pid > 0, "start")

    def stop(self, name: str) -> None:
        """End a program with SIGTERM (SIGKILL after ten seconds) and keep it stopped."""
        self._ask(Request("stop", name))
        self._wait(name, lambda state: state.pid == 0, "end")

    def restart(self, name: str) -> None:
        """End a program and start it again."""
        before = self.status()[name].starts
        self._ask(Request("restart", name))
        self._wait(name, lambda state: state.pid > 0 and state.starts > before, "start again")

    def freeze(self, name: str) -> None:
        """Stop a program's execution where it stands (SIGSTOP)."""
        self._ask(Request("freeze", name))

    def thaw(self, name: str) -> None:
        """Let a frozen program go on (SIGCONT)."""
        self._ask(Request("thaw", name))

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        """Send a program a signal, as an accident would; when it ends it is started again."""
        self._ask(Request("kill", name, number))

    def _ask(self, request: Request) -> dict[str, State]:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(60)
            connection.connect(str(self._path))
            connection.sendall(msgspec.json.encode(request) + b"\n")
            with connection.makefile("rb") as lines:
                reply = msgspec.json.decode(lines.readline(), type=_Reply)
        if reply.error:
            raise ValueError(f"supervisor: {request.verb} {request.name}: {reply.error}")
        return reply.programs

    def _wait(self, name: str, done: Callable[[State], bool], what: str, timeout: float = 120.0) -> None:
        until = time.monotonic() + timeout
        while not done(state := self.status()[name]):
            if time.monotonic() > until:
                raise TimeoutError(f"{name} did not {what} within {timeout:.0f} s: {state}")
            time.sleep(0.05)
