"""Starting processes so that they cannot outlive their starter, and finding one's children."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

# A process that is started so gets SIGKILL at the moment the thread that started it ends.
DIE_WITH_ME = ("setpriv", "--pdeathsig", "KILL")
# A namespace of each kind for what follows; its process 1 dies with `unshare`, and with process 1 everything in it.
NEW_NAMESPACES = ("unshare", "--mount", "--net", "--pid", "--uts", "--ipc", "--fork", "--kill-child=KILL")


def spawn(
    command: Sequence[str], log: IO[bytes], env: dict[str, str], fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start a command that dies with this thread, in a session of its own, its output in `log`."""
    return subprocess.Popen(
        [*DIE_WITH_ME, *command],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env=env,
        pass_fds=fds,
        start_new_session=True,
    )


def inside(pid: int) -> tuple[str, ...]:
    """What to put before a command so that it runs in the namespaces of that process."""
    return ("nsenter", "--target", str(pid), "--all")


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that `spawn` started and wait for it, and for the namespace whose process 1 it may have forked."""
    forked = children(process.pid)
    for pid in forked:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    if not forked:
        process.kill()
    process.wait()  # `unshare` ends when process 1 has ended, and that one when all others of its namespace have


def only_child(parent: subprocess.Popen[bytes], timeout: float = 60.0) -> int:
    """The process that `parent` forks, as this namespace numbers it; waits for it."""
    until = time.monotonic() + timeout
    while time.monotonic() < until:
        if found := children(parent.pid):
            return found[0]
        if parent.poll() is not None:
            raise RuntimeError(f"{parent.args!r} ended with {parent.returncode}")
        time.sleep(0.005)
    raise TimeoutError(f"{parent.args!r} forked no child within {timeout:.0f} s")


def children(parent: int, proc: Path = Path("/proc")) -> list[int]:
    """The processes whose parent is that one. (/proc/PID/task/TID/children is not in every kernel.)"""
    found = []
    for folder in proc.iterdir():
        if folder.name.isdecimal():
            try:
                stat = (folder / "stat").read_text()
            except OSError:  # it ended meanwhile
                continue
            # The name in parentheses may hold spaces and parentheses; the parent is the second field after it.
            if int(stat.rpartition(")")[2].split()[1]) == parent:
                found.append(int(folder.name))
    return sorted(found)
