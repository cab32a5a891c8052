"""`nvidia-toolkit` (`nvidia-ctk-installer`): reads its settings, takes the lock, runs, cleans up on SIGTERM."""

import asyncio
import fcntl
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec

from lockgate.agents.driver_ready import read_driver_ready
from lockgate.agents.node_state import Publisher
from lockgate.agents.options import SettingsError
from lockgate.agents.stderr_log import log_to_stderr
from lockgate.agents.toolkit.agent import Agent, Publish
from lockgate.agents.toolkit.change import CONFIGURED, REFUSED, ROLLED_BACK
from lockgate.agents.toolkit.here import fit
from lockgate.agents.toolkit.settings import Settings, read_settings
from lockgate.agents.toolkit.specs import NewDriverError
from lockgate.host.distributions import STOCK, find_runtime
from lockgate.kit.garbage import collect_seldom

_log = logging.getLogger("lockgate.toolkit")
# NVIDIA's installer ends on any of these, after cleaning.
_ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGTERM)


class LockedError(Exception):
    """Another toolkit runs on this node."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run until stopped; 0 after a clean stop, 1 when locked out or a single pass failed, 2 for bad settings."""
    log_to_stderr()
    collect_seldom()
    try:
        words = sys.argv[1:] if argv is None else list(argv)
        settings = fit(read_settings(words, {**read_driver_ready(), **os.environ}, look=find_runtime))
        if settings.runtime != "containerd":
            _log.info("this is a node of %s: %s", settings.runtime, settings.config_host)
        elif settings.distribution != STOCK.name:
            _log.info("this is a node of %s: %s", settings.distribution, settings.config_host)
        with _locked(settings.pid_file):
            return asyncio.run(_run(settings))
    except SettingsError as error:
        _log.error("%s", error)
        return 2
    except LockedError as error:
        _log.error("%s", error)
        return 1
    except NewDriverError as error:
        _log.info("%s: starting again with it", error)
        os.execv(sys.executable, sys.orig_argv)


async def _run(settings: Settings) -> int:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in _ENDING:
        loop.add_signal_handler(number, stop.set)
    async with _publishing(settings.node, settings.pod) as publish:
        agent = Agent(settings, publish)
        await agent.run(stop)
    failed = settings.no_daemon and agent.outcome.phase in (REFUSED, ROLLED_BACK)
    return 1 if failed and agent.outcome.phase != CONFIGURED else 0


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold the node's lock, with our process number in the file. Raises LockedError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise LockedError(f"{path}: another toolkit runs on this node (process {file.read().strip()})") from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


@asynccontextmanager
async def _publishing(node: str, pod: str) -> AsyncIterator[Publish]:
    """Where states go, in the name of this pod: to GPUNodeState when it knows its node, else nowhere."""
    if not node:
        _log.warning("NODE_NAME is not set: the node's runtime state is not published")
        yield lambda runtime, cdi: None
        return
    async with Publisher(node=node, agent="toolkit") as publisher:
        yield lambda runtime, cdi: publisher.publish(
            runtime=msgspec.structs.replace(runtime, pod=pod) if runtime else None, cdi=cdi
        )


if __name__ == "__main__":
    sys.exit(main())
