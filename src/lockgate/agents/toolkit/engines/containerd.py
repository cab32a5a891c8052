"""containerd: what it makes of its files is known exactly (`lockgate.containerd`), what is loaded is asked over CRI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from lockgate.agents.toolkit.engines.engine import Engine, Place, Planned
from lockgate.agents.toolkit.loaded import differences, handlers_of
from lockgate.containerd import Effective, Files, Refusal, Release, Wanted, plan_dropin, plan_removal
from lockgate.host.containerd_files import read_files
from lockgate.host.cri import UnreachableError, ask_loaded, ask_version
from lockgate.model.node_state import RuntimeState


async def running_release(socket: Path) -> Release:
    """The release of the containerd that runs. Raises UnreachableError."""
    version = await ask_version(socket)
    try:
        return Release.parse(version.release)
    except ValueError as error:
        raise UnreachableError(f"{socket}: {error}") from error


def read_node_files(place: Place, release: Release) -> Files:
    """Every file of the node's configuration, loaded or not."""
    return read_files(place.host, place.config, release, [place.drop_in.rpartition("/")[0]])


@dataclass(frozen=True, slots=True)
class _Look:
    place: Place
    parsed: Release
    files: Files

    @property
    def release(self) -> str:
        return str(self.parsed)

    def again(self) -> _Look:
        return replace(self, files=read_node_files(self.place, self.parsed))

    def plan(self, wanted: Wanted) -> Planned | Refusal:
        plan = plan_dropin(self.files, self.place.config, self.parsed, wanted, self.place.drop_in)
        if isinstance(plan, Refusal):
            return plan
        return Planned(files=plan.files, wrong=_check(plan.expected, wanted), notes=plan.notes)

    def removal(self) -> Planned | Refusal:
        plan = plan_removal(self.files, self.place.config, self.parsed, self.place.drop_in)
        if isinstance(plan, Refusal):
            return plan
        left = Wanted(handlers=tuple(plan.expected.handlers), enable_cdi=False)
        return Planned(files=plan.files, wrong=_check(plan.expected, left))


def _check(expected: Effective, wanted: Wanted) -> Callable[[Path], Awaitable[tuple[str, ...]]]:
    async def wrong(socket: Path) -> tuple[str, ...]:
        return differences(await ask_loaded(socket), expected, wanted)

    return wrong


class Containerd:
    """The engine of stock containerd and of every distribution that brings one."""

    name: Final = "containerd"

    async def running(self, socket: Path) -> str:
        """The release that runs."""
        return str(await running_release(socket))

    async def answers(self, socket: Path) -> None:
        """It may serve its socket long before its CRI plugin is loaded."""
        await ask_loaded(socket)

    async def state(self, socket: Path) -> RuntimeState:
        """What containerd has loaded."""
        release, loaded = await running_release(socket), await ask_loaded(socket)
        return RuntimeState(
            name=self.name,
            release=str(release),
            handlers=handlers_of(loaded),
            default_handler=loaded.containerd.default_runtime_name,
            cdi_enabled=loaded.enable_cdi if loaded.enable_cdi is not None else loaded.cdi_spec_dirs is not None,
            cdi_spec_dirs=loaded.cdi_spec_dirs or (),
        )

    async def look(self, place: Place, socket: Path) -> _Look:
        """Look at the node."""
        release = await running_release(socket)
        return _Look(place, release, read_node_files(place, release))


CONTAINERD: Final[Engine] = Containerd()
