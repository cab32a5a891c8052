"""The toolkit's life: configure the runtime, write CDI specifications, watch both, and leave the node as it was found.

While it runs it renews its own specifications and publishes what it sees. It does not fight: what others change in
containerd's files afterwards is published as drift, and mended when the toolkit is started again.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import msgspec

from lockgate.agents.published_files import cdi_state, rfc3339, spec_directories
from lockgate.agents.toolkit import change
from lockgate.agents.toolkit.change import CONFIGURED, REFUSED, UNREACHABLE, Node, Outcome
from lockgate.agents.toolkit.engines import Engine
from lockgate.agents.toolkit.engines.containerd import CONTAINERD
from lockgate.agents.toolkit.engines.crio import Crio
from lockgate.agents.toolkit.engines.docker import Docker
from lockgate.agents.toolkit.report import runtime_state
from lockgate.agents.toolkit.settings import Settings
from lockgate.agents.toolkit.specs import SpecWriter, find_roots, remove_specs
from lockgate.apply.files import Checkpoint, onward
from lockgate.apply.service import Service
from lockgate.host.cri import UnreachableError
from lockgate.host.processes import NoServerError, Process, find_server, started_at
from lockgate.model.node_state import CDIState, RuntimeState

_log = logging.getLogger("lockgate.toolkit")
LOOK: Final = 5.0  # seconds between looks at driver, devices and runtime
Publish = Callable[[RuntimeState | None, CDIState | None], None]
"""Gets the sections to publish; None: not known."""


def _engine(settings: Settings) -> Engine:
    match settings.runtime:
        case "docker":
            return Docker(restarts=settings.restart_mode == "systemd")
        case "crio":
            return Crio()
        case _:
            return CONTAINERD


def node_of(settings: Settings) -> Node:
    """The node's runtime as the settings describe it."""
    return Node(
        host=settings.host_root,
        config=settings.config_host,
        drop_in=settings.drop_in_host,
        socket=settings.socket_host,
        here={settings.config_host: settings.config, settings.drop_in_host: settings.drop_in},
        journal=settings.journal,
        service=Service(
            name=settings.runtime,
            socket=settings.socket,
            mode=settings.restart_mode,
            reloads=settings.runtime == "docker",
            host=settings.host_root,
            unit=settings.unit,
        ),
        engine=_engine(settings),
        wanted=settings.wanted,
        fixed=settings.fixed,
    )


def _spec_writer(settings: Settings, checkpoint: Checkpoint) -> SpecWriter | None:
    """None where no specification is wanted."""
    if not (settings.cdi_enabled and settings.cdi_output_dir):
        return None
    folder, roots = Path(settings.cdi_output_dir), find_roots(settings)
    return SpecWriter(folder, roots, namings=settings.device_names, checkpoint=checkpoint)


class Agent:
    """One toolkit. `run` ends when `stop` is set, after cleaning the node; `publish` gets every state seen.

    `checkpoint` is told each point at which a crash is possible.
    """

    def __init__(
        self, settings: Settings, publish: Publish, *, look: float = LOOK, checkpoint: Checkpoint = onward
    ) -> None:
        self.settings = settings
        self.node = node_of(settings)
        self.outcome = Outcome(UNREACHABLE, "not configured yet")
        self._publish = publish
        self._look = look
        self._checkpoint = checkpoint
        self._specs = _spec_writer(settings, checkpoint)
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="nvml")  # NVML wants one thread
        self._said = ""
        self._seen: tuple[Process, str] | None = None  # the containerd that was seen last, and since when it runs

    async def run(self, stop: asyncio.Event) -> None:
        """Configure, watch, clean. Raises NewDriverError, with everything left in place for the next process."""
        while not stop.is_set():
            await self.look()
            if self.settings.no_daemon and self.outcome.phase != UNREACHABLE:
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), self._look)
        await self.clean()
        self._publish(None, None)  # from here on nobody knows

    async def look(self) -> None:
        """One turn: specifications first, so that they are there when containerd offers CDI; then the runtime."""
        problem = await asyncio.get_running_loop().run_in_executor(self._thread, self._renew_specs)
        if not self.settings.no_runtime_config and self.outcome.phase != CONFIGURED:
            self.outcome = await self._configure()
        await self._report(problem)
        if self.settings.done_file and (self.settings.no_runtime_config or self.outcome.phase != UNREACHABLE):
            self.settings.done_file.touch()

    async def clean(self) -> None:
        """Take everything of ours off the node."""
        if self._specs:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._specs.close)
            remove_specs(Path(self.settings.cdi_output_dir), checkpoint=self._checkpoint)
        if not self.settings.no_runtime_config:
            try:
                outcome = await change.remove(self.node, checkpoint=self._checkpoint)
            except UnreachableError as error:
                outcome = Outcome(UNREACHABLE, str(error))
            except OSError as error:
                outcome = Outcome(REFUSED, str(error))
            self.outcome = outcome
            _log.info("handlers removed from %s: %s %s", self.settings.runtime, outcome.phase, outcome.message)

    def _renew_specs(self) -> str:
        """Runs in the thread of NVML; returns what is wrong."""
        return self._specs.renew().problem if self._specs else ""

    async def _configure(self) -> Outcome:
        try:
            outcome = await change.configure(self.node, checkpoint=self._checkpoint)
        except UnreachableError as error:
            outcome = Outcome(UNREACHABLE, str(error))
        except OSError as error:  # a file that cannot be read, a journal that cannot be removed
            outcome = Outcome(REFUSED, str(error))
        level = logging.INFO if outcome.phase == CONFIGURED else logging.ERROR
        if outcome != self.outcome:
            text = f": {outcome.message}" if outcome.message else ""
            _log.log(level, "%s: %s%s", self.settings.runtime, outcome.phase, text)
        return outcome

    async def _report(self, problem: str) -> None:
        state = None
        if not self.settings.no_runtime_config:
            started = await asyncio.to_thread(self._running_since)
            state = await runtime_state(self.node, self.outcome, started)
            if problem:
                state = msgspec.structs.replace(state, message="; ".join(filter(None, (state.message, problem))))
        self._say(f"{state.phase}: {state.message}" if state and state.message else problem)
        self._publish(state, cdi_state(self.settings.host_root, spec_directories(state or RuntimeState())))

    def _running_since(self) -> str:
        """Asked once a process: the time of boot moves with the clock, and each other answer would be published."""
        try:
            process = find_server(self.node.service.socket)
            if self._seen is None or self._seen[0] != process:
                self._seen = (process, rfc3339(started_at(process)))
        except (NoServerError, OSError, ValueError, StopIteration):
            return ""
        return self._seen[1]

    def _say(self, text: str) -> None:
        """Log what is wrong, when it is a new one."""
        if text != self._said:
            _log.warning("%s", text or "nothing is wrong any more")
            self._said = text
