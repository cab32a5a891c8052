"""`gpu-feature-discovery`: reads its settings, labels the node, ends on SIGTERM; SIGHUP reads the settings again."""

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
from lockgate.agents.live_settings import LiveSettings
from lockgate.agents.options import SettingsError
from lockgate.agents.stderr_log import log_to_stderr
from lockgate.kube.api import Api

_log = logging.getLogger("lockgate.features")


def main(argv: Sequence[str] | None = None) -> int:
    """Run until stopped, or once; 1 when there is no driver (FAIL_ON_INIT_ERROR), 2 for bad settings."""
    log_to_stderr()
    gc.freeze()  # what is imported lives as long as we do; the rest is little, and collected as ever, to stay little
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        source = LiveSettings(lambda: read_settings(arguments, {**read_driver_ready(), **os.environ}))
    except SettingsError as error:
        _log.error("%s", error)
        return 2
    status = asyncio.run(_run(source))
    if status:
        root = source.current.driver_root_ctr
        _log.error("ending: the node could not be labelled (driver root in this container: %s)", root)
    return status


async def _run(source: LiveSettings[Settings]) -> int:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    settings = source.current
    agent = FeatureAgent(settings, Api.connect if settings.node_name else None, int(time.time()), reload=source.changed)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, source.ask)
    return await agent.run(stop)


if __name__ == "__main__":
    sys.exit(main())
