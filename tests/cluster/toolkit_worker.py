"""Runs the toolkit's agent as a process of a node, again and again, and kills it at the point that was asked for.

Started inside a node's namespaces; reads one request a line, answers one line. Each run is a forked child, so that
Python and its libraries start once and a kill is a real SIGKILL of the process that works.
"""

import asyncio
import json
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from lockgate.agents.toolkit.agent import Agent
from lockgate.agents.toolkit.settings import read_settings
from lockgate.host.processes import find_server
from lockgate.model.node_state import CDIState, RuntimeState


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What to do: `configure` (until the runtime was configured, refused or given up) or `clean`.

    `kill` is the number of the point, from 0, at which the process ends itself; -1 for none. `meanwhile` are files,
    by path, that somebody writes just before containerd is restarted for the first time; with `freeze` it is stopped
    at that moment (SIGSTOP); with `holds` the run waits there until that file is gone. `patience` is how many seconds
    containerd has to end, to come back and to answer.
    """

    do: str
    kill: int = -1
    environ: dict[str, str] = {}
    meanwhile: dict[str, str] = {}
    freeze: bool = False
    holds: str = ""
    patience: float = 20.0


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How it ended: the points that it reached, whether it was killed at the last, and the outcome.

    `published` are the phases and texts that it published, each once in a row.
    """

    killed: bool
    points: tuple[str, ...]
    phase: str = ""
    message: str = ""
    published: tuple[tuple[str, str], ...] = ()
    error: str = ""


def main() -> None:
    """Serve requests until the input ends."""
    for line in sys.stdin:
        print(msgspec.json.encode(_in_a_child(msgspec.json.decode(line, type=Run))).decode(), flush=True)


def _in_a_child(run: Run) -> Ended:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.setsid()
        _work(run, writing)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        lines = [json.loads(line) for line in pipe]
    _, status = os.waitpid(child, 0)
    end = next((line for line in lines if isinstance(line, dict)), {})
    return Ended(
        killed=os.waitstatus_to_exitcode(status) == -signal.SIGKILL,
        points=tuple(line for line in lines if isinstance(line, str)),
        **end,
    )


def _work(run: Run, pipe: int) -> None:
    """The child: never returns."""
    try:
        end = asyncio.run(_live(run, Points(run, pipe)))
    except BaseException as error:  # noqa: BLE001 - told to the parent, which the test reads
        end = {"error": f"{type(error).__name__}: {error}"}
    os.write(pipe, json.dumps(end).encode() + b"\n")
    os._exit(0)


class Points:
    """The checkpoint of one run: writes each point down, then does there what was asked."""

    def __init__(self, run: Run, pipe: int) -> None:
        self._left = run.kill
        self._meanwhile = run
        self._pipe = pipe

    def __call__(self, point: str) -> None:
        os.write(self._pipe, json.dumps(point).encode() + b"\n")
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1
        if point == "before restarting":
            _disturb(self._meanwhile)
            self._meanwhile = Run(do="")


def _disturb(run: Run) -> None:
    for path, text in run.meanwhile.items():
        Path(path).write_text(text)
    if run.freeze:
        os.kill(find_server(Path("/run/containerd/containerd.sock")).pid, signal.SIGSTOP)
    while run.holds and Path(run.holds).exists():
        time.sleep(0.01)


async def _live(run: Run, points: Points) -> dict[str, Any]:
    settings, published = read_settings(["--no-daemon"], run.environ), list[tuple[str, str]]()

    def publish(runtime: RuntimeState | None, cdi: CDIState | None) -> None:
        state = (runtime.phase, runtime.message) if runtime else ("", "")
        if published[-1:] != [state]:
            published.append(state)

    agent = Agent(settings, publish, look=0.5, checkpoint=points)
    service = replace(agent.node.service, ends_within=run.patience, back_within=run.patience)
    agent.node = replace(agent.node, service=service, settles_within=run.patience)
    await (agent.run(asyncio.Event()) if run.do == "configure" else agent.clean())
    return {"phase": agent.outcome.phase, "message": agent.outcome.message, "published": published}


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    main()
