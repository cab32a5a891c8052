"""`nvidia-validator`: runs the step named by COMPONENT, opens its door when it passed, publishes what it found."""

import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Final

from lockgate.agents.node_state import Publisher
from lockgate.agents.options import SettingsError
from lockgate.agents.stderr_log import log_to_stderr
from lockgate.agents.validator.cuda import check_cuda
from lockgate.agents.validator.driver import check_driver
from lockgate.agents.validator.plugin import check_plugin
from lockgate.agents.validator.result import NotReadyError, Passed, Results
from lockgate.agents.validator.settings import Settings, read_settings
from lockgate.agents.validator.toolkit import check_toolkit
from lockgate.kit.garbage import collect_seldom
from lockgate.model.node_state import DriverState

_log = logging.getLogger("lockgate.validator")
_USUAL: Final = 5.0  # seconds between two tries, as with NVIDIA's
_EAGER: Final = 30.0  # seconds for which the plugin is looked for each second
Check = Callable[[Settings], Awaitable[Passed]]
CHECKS: Final[Mapping[str, Check]] = {
    "driver": check_driver,
    "toolkit": check_toolkit,
    "cuda": check_cuda,
    "plugin": check_plugin,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one step; 0 when it passed, 1 when it did not (with WITH_WAIT it is tried for ever), 2 for bad settings."""
    log_to_stderr()
    collect_seldom()
    try:
        settings = read_settings(sys.argv[1:] if argv is None else list(argv), os.environ)
    except SettingsError as error:
        _log.error("%s", error)
        return 2
    return asyncio.run(_run(settings))


async def _run(settings: Settings) -> int:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with _publishing(settings, Results(settings.output)) as publish:
        return 0 if await validate(settings, CHECKS[settings.component], publish, stop) else 1


async def validate(settings: Settings, check: Check, publish: Callable[[], None], stop: asyncio.Event) -> bool:
    """Close the door, then try until the step passes or its attempts are used up; whether it passed."""
    results, step, said = Results(settings.output), settings.component, ""
    results.clear_all() if settings.clean_all else results.clear(step)
    attempts: float = settings.plugin_attempts if step == "plugin" else 1
    started = time.monotonic()
    while not stop.is_set():
        try:
            passed = await check(settings)
        except NotReadyError as error:
            wait = pause(settings, time.monotonic() - started)
            attempts -= wait / (settings.pause or _USUAL)  # a short one counts for less
            results.fail(step, str(error), _failed_driver(settings, str(error)))
            if str(error) != said:
                _log.warning("%s: not ready: %s", step, error)
                said = str(error)
            publish()
            if attempts <= 0 and not settings.wait:
                return False
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), wait)
            continue
        results.succeed(step, passed)
        _log.info("%s: ready: %s", step, passed.message)
        publish()
        return True
    return False


def pause(settings: Settings, waited: float) -> float:
    """Seconds until the next try. A plugin registers within seconds, and each node that is not ready yet costs time."""
    if settings.pause is not None:
        return settings.pause
    return 1.0 if settings.component == "plugin" and waited < _EAGER else _USUAL


def _failed_driver(settings: Settings, error: str) -> DriverState | None:
    return DriverState(root=settings.driver_root, error=error) if settings.component == "driver" else None


@asynccontextmanager
async def _publishing(settings: Settings, results: Results) -> AsyncIterator[Callable[[], None]]:
    """Publishes the state of all steps that ran on this node, where the node's name is known."""
    if not settings.node:
        _log.warning("NODE_NAME is not set: the result is not published")
        yield lambda: None
        return
    async with Publisher(node=settings.node, agent="validator") as publisher:

        def publish() -> None:
            validation, driver = results.state()
            publisher.publish(validation=validation, driver=driver)

        yield publish


if __name__ == "__main__":
    sys.exit(main())
