"""`lockgate-discovery`: labels the node named by NODE_NAME from the host's root at HOST_ROOT; ends on SIGTERM."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from lockgate.agents.discovery.agent import Discovery
from lockgate.agents.discovery.scan import scan
from lockgate.agents.node_state import Publisher
from lockgate.agents.stderr_log import log_to_stderr
from lockgate.kit.garbage import collect_seldom
from lockgate.kube.api import Api
from lockgate.kube.errors import ConfigError

_log = logging.getLogger("lockgate.discovery")


def main(argv: Sequence[str] | None = None) -> int:
    """Run until stopped; 0 then, 1 without a way to the API server, 2 for bad settings. `--print` only prints."""
    log_to_stderr()
    collect_seldom()
    options = _parser().parse_args(argv)
    if options.print:
        for labels in scan(options.host_root).values():
            sys.stdout.writelines(f"{name}={value}\n" for name, value in (labels or {}).items())
        return 0
    if not options.node_name:
        _log.error("NODE_NAME is not set: it says which Node to label")
        return 2
    try:
        asyncio.run(_run(options.node_name, options.host_root))
    except ConfigError as error:
        _log.error("%s", error)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lockgate-discovery", description="Labels this node for what it is.")
    parser.add_argument("--node-name", default=os.environ.get("NODE_NAME", ""), help="the Node to label (NODE_NAME)")
    root = os.environ.get("HOST_ROOT", "/host")
    parser.add_argument("--host-root", type=Path, default=Path(root), help="the host's root here (HOST_ROOT)")
    parser.add_argument("--print", action="store_true", help="print the labels, and change nothing")
    return parser


async def _run(node: str, host: Path) -> None:
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    async with Api.connect() as api, Publisher(node=node, agent="discovery") as state:
        agent = Discovery(api, node, host, publish=lambda seen: state.publish(runtime=seen[0], cdi=seen[1]))
        await agent.run(stop)


if __name__ == "__main__":
    sys.exit(main())
