"""What a change must know of a container runtime: what runs, what its files are, what to write, what it has loaded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lockgate.containerd import Files, Refusal, Wanted
from lockgate.model.node_state import RuntimeState


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a node keeps the files: the host's root as seen from here, and two paths on the host.

    `drop_in` is the file that is ours alone: it goes first, leaves last, and remembers our edits of `config`.
    """

    host: Path
    config: str
    drop_in: str


async def _nothing(_: Path) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """Files to write (path to text; None: remove), after they were simulated.

    `wrong` asks at a socket how what is loaded differs from what was meant; `later` what waits for the runtime's next
    start. Both raise UnreachableError.
    """

    files: Mapping[str, str | None]
    wrong: Callable[[Path], Awaitable[tuple[str, ...]]]
    later: Callable[[Path], Awaitable[str]] = _nothing
    notes: tuple[str, ...] = ()


class Look(Protocol):
    """One look at a node: the release that runs, and its files."""

    @property
    def release(self) -> str:
        """The release, as a person writes it."""

    @property
    def files(self) -> Files:
        """Every file of the configuration, loaded or not."""

    def again(self) -> Look:
        """The same release with the files as they are now."""

    def plan(self, wanted: Wanted) -> Planned | Refusal:
        """What to write so that what is wanted is in effect."""

    def removal(self) -> Planned | Refusal:
        """What to write so that nothing of ours is left."""


class Engine(Protocol):
    """A container runtime. What asks the runtime raises UnreachableError when it does not answer."""

    @property
    def name(self) -> str:
        """The runtime, as messages call it."""

    async def running(self, socket: Path) -> str:
        """The release that runs."""

    async def answers(self, socket: Path) -> None:
        """Return when it is as far as a kubelet needs it."""

    async def state(self, socket: Path) -> RuntimeState:
        """What it is and has loaded, for the node's state."""

    async def look(self, place: Place, socket: Path) -> Look:
        """Look at the node."""
