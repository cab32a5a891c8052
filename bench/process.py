"""Runs one command in a process of its own, and says what the kernel counted of it."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Spent:
    """What one process used, how it ended, and what it said on standard error."""

    cpu: float
    megabytes: float
    code: int
    said: str


def run(command: list[str], environment: Mapping[str, str] | None = None) -> Spent:
    """Run to the end; what it prints is thrown away. `environment` stands beside that of this process."""
    with subprocess.Popen(
        command, env=os.environ | (environment or {}), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        said = process.stderr.read().decode()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Spent(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, process.returncode, said)
