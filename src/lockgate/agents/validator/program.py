"""A program that asks the driver: run for so long and no longer, since a driver that hangs hangs whoever asks it."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from lockgate.agents.validator.result import NotReadyError

_LAST_WORDS: Final = 5.0  # seconds


async def run(command: Sequence[str], environ: Mapping[str, str], what: str, timeout: float = 60.0) -> tuple[int, str]:
    """Its exit status and what it wrote, on either stream. Raises NotReadyError when it cannot be run, or hangs.

    A program that hangs is killed, and waited for some seconds at most: what is stuck in the driver may never end.
    """
    try:
        child = await asyncio.create_subprocess_exec(
            *command, env=dict(environ), stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
    except OSError as error:
        raise NotReadyError(f"{what} cannot be run: {error}") from error
    try:
        output, _ = await asyncio.wait_for(child.communicate(), timeout)
    except TimeoutError:
        child.kill()
        with suppress(TimeoutError):
            await asyncio.wait_for(child.communicate(), _LAST_WORDS)
        raise NotReadyError(f"{what} has not answered within {timeout:.0f} s: the driver or a GPU hangs") from None
    return child.returncode or 0, output.decode(errors="replace")
