"""`gpu-feature-discovery`: reads its settings, labels the node, ends on SIGTERM; SIGHUP starts it again."""

import asyncio
import gc
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence

from lockgate.agents.driver_ready import read_driver_ready
from lockgate.agents.features.agent import FeatureAgent
from lockgate.agents.features.settings import Settings, read_settings
from lockgate.agents.options import SettingsError
from lockgate.kube.api import Api

_log = logging.getLogger("lockgate.features")


def main(argv: Sequence[str] | None = None) -> int:
    """Run until stopped, or once; 1 when there is no driver (FAIL_ON_INIT_ERROR), 2 for bad settings."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        settings = read_settings(arguments, {**read_driver_ready(), **os.environ})
    except SettingsError as error:
        _log.error("%s", error)
        return 2
    for warning in settings.warnings:
        _log.warning("%s", warning)
    status = asyncio.run(_run(settings))
    if status == _AGAIN:
        _log.info("SIGHUP: starting again")
        os.execv(sys.executable, sys.orig_argv)
    if status == 1:
        _log.error(
            "ending: the node could not be labelled (driver root in this container: %s)", settings.driver_root_ctr
        )
    return status


_AGAIN = -1


async def _run(settings: Settings) -> int:
    stop, loop, again = asyncio.Event(), asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, _restart, stop, again)
    agent = FeatureAgent(settings, Api.connect if settings.node_name else None, int(time.time()))
    status = await agent.run(stop)
    return _AGAIN if again.is_set() else status


def _restart(stop: asyncio.Event, again: asyncio.Event) -> None:
    again.set()
    stop.set()


if __name__ == "__main__":
    sys.exit(main())
