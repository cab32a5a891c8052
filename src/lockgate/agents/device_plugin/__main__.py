"""`nvidia-device-plugin`: reads its settings, runs the agent, ends on SIGTERM; SIGHUP reads the settings again."""

import asyncio
import gc
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec

from lockgate.agents.device_plugin.agent import Agent, Ending
from lockgate.agents.device_plugin.settings import Settings, read_settings
from lockgate.agents.device_plugin.state import handed_out
from lockgate.agents.driver_ready import read_driver_ready
from lockgate.agents.live_settings import LiveSettings
from lockgate.agents.node_state import Publisher
from lockgate.agents.options import SettingsError
from lockgate.agents.stderr_log import log_to_stderr
from lockgate.model.node_state import DevicesState

_log = logging.getLogger("lockgate.device_plugin")
HOST: Final = Path("/host")


def main(argv: Sequence[str] | None = None) -> int:
    """Run until stopped; 0 after a clean stop, 1 when there is no driver (FAIL_ON_INIT_ERROR), 2 for bad settings."""
    log_to_stderr()
    gc.freeze()  # what is imported lives as long as we do; the rest is little, and collected as ever, to stay little
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        source = LiveSettings(lambda: _read(arguments, os.environ))
    except SettingsError as error:
        _log.error("%s", error)
        return 2
    ending = asyncio.run(_run(source))
    if ending is Ending.NEW_DRIVER:
        _log.info("the driver root holds another driver now: starting again with it")
        os.execv(sys.executable, sys.orig_argv)
    return 1 if ending is Ending.NO_DRIVER else 0


def _read(argv: Sequence[str], environ: Mapping[str, str]) -> Settings:
    settings = read_settings(argv, {**read_driver_ready(), **environ})
    return settings if settings.dev_root else msgspec.structs.replace(settings, dev_root=_dev_root(settings))


def _dev_root(settings: Settings) -> str:
    """The driver root, as in NVIDIA's plugin, when it holds the device nodes; else the host's own root."""
    inside = settings.driver_root_ctr / "dev/nvidiactl"
    return settings.driver_root if inside.exists() else "/"


def _seen_dev_root(settings: Settings) -> Path:
    """Where this container sees the root that holds the host's device nodes."""
    if settings.dev_root_ctr:
        return Path(settings.dev_root_ctr)
    if settings.dev_root == settings.driver_root != "/":
        return settings.driver_root_ctr
    return HOST if (HOST / "dev").is_dir() else Path("/")


async def _run(source: LiveSettings[Settings]) -> Ending:
    settings = source.current
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    async with _publishing(lambda: source.current) as publish:
        agent = Agent(settings, _seen_dev_root(settings), publish, reload=source.changed)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT):
            loop.add_signal_handler(number, stop.set)
        loop.add_signal_handler(signal.SIGHUP, _read_again, source, agent)
        ending = await agent.run(stop)
    if ending is Ending.NO_DRIVER:
        _log.error(
            "no driver, so no device can be advertised (driver root %s, in this container %s). "
            "Ending, since FAIL_ON_INIT_ERROR is true; with false this waits for the driver.",
            settings.driver_root,
            settings.driver_root_ctr,
        )
    return ending


def _read_again(source: LiveSettings[Settings], agent: Agent) -> None:
    source.ask()
    agent.wake()


@asynccontextmanager
async def _publishing(settings: Callable[[], Settings]) -> AsyncIterator[Callable[[DevicesState], None]]:
    """Where the state goes: to GPUNodeState when the pod knows its node, else nowhere; `settings` are those of now."""
    node = os.environ.get("NODE_NAME", "")
    if not node:
        _log.warning("NODE_NAME is not set: the node's device state is not published")
        yield lambda state: None
        return
    async with Publisher(node=node, agent="device-plugin") as publisher:
        yield lambda state: publisher.publish(devices=handed_out(state, settings()))


if __name__ == "__main__":
    sys.exit(main())
