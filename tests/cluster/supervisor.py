"""A small service manager: starts programs, starts them again when they end, and does what a socket asks of it.

It is process 1 of a cluster's namespace, so it also reaps every orphan. One thread, one loop. The protocol is one
JSON object a connection: {"verb": "restart", "name": "kubelet"}, answered by {"programs": {...}} or {"error": text}.
"""

import contextlib
import os
import selectors
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tests.cluster.spec import Program

_RESTART_AFTER = 0.5  # seconds, as a unit with Restart=always and RestartSec=500ms
_KILL_AFTER = 10.0  # seconds between SIGTERM and SIGKILL
_POLL = 0.05  # seconds, only while something waits for its moment
_SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Request(msgspec.Struct, frozen=True):
    """What a client asks; `signal` is for the verb "kill"."""

    verb: str
    name: str = ""
    signal: int = signal.SIGKILL


class State(msgspec.Struct, frozen=True):
    """How one program is: its process as the namespace numbers it (0: none), how often started, how it last ended."""

    pid: int
    wanted: bool
    frozen: bool
    starts: int
    last_exit: int | None  # an exit status, or the negative number of the signal


@dataclass(slots=True)
class Service:
    """One program and where it stands."""

    program: Program
    wanted: bool
    pid: int = 0
    frozen: bool = False
    starts: int = 0
    last_exit: int | None = None
    not_before: float = 0.0
    kill_at: float = 0.0

    def state(self) -> State:
        """A copy of what a client may know."""
        return State(self.pid, self.wanted, self.frozen, self.starts, self.last_exit)

    def due(self, now: float) -> bool:
        """Whether it should be started at this moment."""
        ready = self.wanted and not self.pid and now >= self.not_before
        return ready and all(Path(path).exists() for path in self.program.waits_for)


class Supervisor:
    """Runs the programs until it is killed, which in a namespace of its own ends everything there."""

    def __init__(self, programs: tuple[Program, ...], socket_path: Path, logs: Path) -> None:
        self._services = {program.name: Service(program, wanted=program.autostart) for program in programs}
        self._logs = logs
        logs.mkdir(exist_ok=True)
        self._listener = socket.socket(socket.AF_UNIX)
        unheard = socket_path.with_name(f".{socket_path.name}")
        self._listener.bind(str(unheard))
        self._listener.listen()
        unheard.rename(socket_path)  # who sees it is heard: between bind and listen it would be refused
        self._wake, wake = socket.socketpair()
        for end in (self._wake, wake):
            end.setblocking(False)
        self._waker = wake
        signal.set_wakeup_fd(wake.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)  # the wakeup descriptor does the work

    def run(self) -> None:
        """Loop for ever: reap, kill what does not end, start what is due, answer."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._wake, selectors.EVENT_READ)
            while True:
                self._reap()
                self._act(time.monotonic())
                for key, _ in selector.select(self._pause()):
                    if key.fileobj is self._wake:
                        self._wake.recv(4096)
                    else:
                        self._answer()

    def _pause(self) -> float | None:
        waiting = any(service.kill_at or (service.wanted and not service.pid) for service in self._services.values())
        return _POLL if waiting else None

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for service in self._services.values():
                if service.pid == pid:
                    self._ended(service, os.waitstatus_to_exitcode(status))

    def _ended(self, service: Service, exit_code: int) -> None:
        asked = service.kill_at > 0
        service.pid, service.frozen, service.kill_at, service.last_exit = 0, False, 0.0, exit_code
        service.not_before = 0.0 if asked else time.monotonic() + _RESTART_AFTER

    def _act(self, now: float) -> None:
        for service in self._services.values():
            if service.kill_at and now > service.kill_at:
                os.kill(service.pid, signal.SIGKILL)
            if service.due(now):
                self._start(service)

    def _start(self, service: Service) -> None:
        program = service.program
        log = os.open(self._logs / f"{program.name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        environment = {"PATH": _SYSTEM_PATH, "HOME": "/root", "LANG": "C.UTF-8"} | program.env
        actions = [(os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2)]
        try:
            service.pid = os.posix_spawn(program.argv[0], program.argv, environment, file_actions=actions, setsid=True)
            service.starts += 1
        except OSError as error:
            os.write(log, f"supervisor: cannot start {program.argv[0]}: {error}\n".encode())
            service.not_before = time.monotonic() + _RESTART_AFTER
        finally:
            os.close(log)

    def _answer(self) -> None:
        connection, _ = self._listener.accept()
        with connection, contextlib.suppress(OSError):  # a client that left needs no answer
            connection.settimeout(5)
            with connection.makefile("rb") as lines:
                connection.sendall(msgspec.json.encode(self._do(lines.readline())) + b"\n")

    def _do(self, line: bytes) -> dict[str, object]:
        try:
            request = msgspec.json.decode(line, type=Request)
            if request.verb != "status":
                self._change(self._services[request.name], request)
        except (msgspec.MsgspecError, KeyError, ValueError) as error:
            return {"error": f"{type(error).__name__}: {error}"}
        return {"programs": {name: service.state() for name, service in self._services.items()}}

    def _change(self, service: Service, request: Request) -> None:
        match request.verb:
            case "start":
                service.wanted, service.not_before = True, 0.0
            case "stop" | "restart":
                service.wanted = request.verb == "restart"
                service.not_before = 0.0
                if service.pid:
                    self._signal(service, signal.SIGCONT, signal.SIGTERM)
                    service.kill_at = time.monotonic() + _KILL_AFTER
            case "freeze" | "thaw":
                service.frozen = request.verb == "freeze"
                self._signal(service, signal.SIGSTOP if service.frozen else signal.SIGCONT)
            case "kill":
                self._signal(service, request.signal)
            case other:
                raise ValueError(f'no verb "{other}"')

    def _signal(self, service: Service, *signals: int) -> None:
        if not service.pid:
            raise ValueError(f"{service.program.name} does not run")
        for number in signals:
            os.kill(service.pid, number)
