"""Programs that ask the driver: what they say, and that one that hangs or is not there keeps nobody waiting."""

import asyncio
import os
import sys

import pytest

from lockgate.agents.validator.program import run
from lockgate.agents.validator.result import NotReadyError


def _run(script: str, timeout: float = 30.0) -> tuple[int, str]:
    return asyncio.run(run((sys.executable, "-c", script), os.environ, "the program", timeout))


def test_both_streams_and_the_status_are_told() -> None:
    status, text = _run("import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)")
    assert status == 3
    assert text.split() == ["out", "err"]


def test_one_that_hangs_is_given_up() -> None:
    with pytest.raises(NotReadyError, match=r"the program has not answered within 0 s: the driver or a GPU hangs"):
        _run("import time; time.sleep(60)", timeout=0.2)


def test_one_that_is_not_there_is_said_to_be_lacking() -> None:
    with pytest.raises(NotReadyError, match="the program cannot be run"):
        asyncio.run(run(("/nowhere/nvidia-smi",), os.environ, "the program"))
