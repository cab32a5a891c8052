"""CRI-O: handlers in a drop-in of ours, CDI needs no switch. systemd alone restarts it, as with NVIDIA's toolkit.

What it has loaded is read from CRI's `Status.runtime_handlers`; where that is empty (before 1.30), that it came
back and answers is all that can be known. Written from documentation: no binary of CRI-O can be had here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from posixpath import dirname
from typing import Final

from lockgate.agents.toolkit.engines.crio_files import Effective, check, drop_in_text, resolve
from lockgate.agents.toolkit.engines.engine import Place, Planned
from lockgate.containerd import Files, Refusal, Wanted
from lockgate.host.cri import ask_handlers, ask_version
from lockgate.host.rooted import Root
from lockgate.model.node_state import Handler, RuntimeState

# A handler without `runtime_path` is looked up by its own name in PATH, and there is no program called nvidia.
PROGRAMS: Final = (
    "/usr/libexec/crio/crun",
    "/usr/bin/crun",
    "/usr/libexec/crio/runc",
    "/usr/bin/runc",
    "/usr/sbin/runc",
)


@dataclass(frozen=True, slots=True)
class _Look:
    place: Place
    release: str
    files: Files

    def again(self) -> _Look:
        return replace(self, files=_read(self.place))

    def plan(self, wanted: Wanted) -> Planned | Refusal:
        theirs = _texts(self.files, self.place, None)
        before = resolve(theirs)
        if isinstance(before, Refusal):
            return before
        program = next((path for path in PROGRAMS if Root(self.place.host).resolve(path)), "")
        if not program and not before.handlers:
            return Refusal("crio/no-runtime", f"no OCI runtime on the node, looked for {', '.join(PROGRAMS)}")
        text = drop_in_text(before, wanted, program)
        refusal = self._simulated(before, wanted, text)
        if refusal:
            return refusal
        same = self.files.read(self.place.drop_in) == text.encode()
        return Planned(files={} if same else {self.place.drop_in: text}, wrong=_loaded(wanted))

    def _simulated(self, before: Effective, wanted: Wanted, text: str) -> Refusal | None:
        after = resolve(_texts(self.files, self.place, text))
        return after if isinstance(after, Refusal) else check(before, after, wanted, self.place.drop_in)

    def removal(self) -> Planned | Refusal:
        there = self.files.read(self.place.drop_in) is not None
        return Planned(files={self.place.drop_in: None} if there else {}, wrong=_loaded(Wanted(handlers=())))


def _texts(files: Files, place: Place, ours: str | None) -> Mapping[str, str]:
    """In CRI-O's order, with our drop-in or without."""
    found = {
        path: content.decode("utf-8", "replace")
        for path, content in files.entries.items()
        if isinstance(content, bytes)
    }
    found.pop(place.drop_in, None)
    if ours is not None:
        found[place.drop_in] = ours
    return {path: found[path] for path in sorted(found, key=lambda path: (path != place.config, path))}


def _loaded(wanted: Wanted) -> Callable[[Path], Awaitable[tuple[str, ...]]]:
    async def wrong(socket: Path) -> tuple[str, ...]:
        known = await ask_handlers(socket)
        missing = [name for name in wanted.handlers if known and name not in known]
        return tuple(f'CRI-O has not loaded handler "{name}", only {", ".join(sorted(known))}' for name in missing)

    return wrong


def _read(place: Place) -> Files:
    root, folder = Root(place.host), dirname(place.drop_in)
    paths = (place.config, *(f"{folder}/{name}" for name in root.names(folder)))
    found = {path: root.outside(resolved) for path in paths if (resolved := root.resolve(path))}
    return Files({path: file.read_bytes() for path, file in found.items() if file.is_file()})


@dataclass(frozen=True, slots=True)
class Crio:
    """The engine of CRI-O."""

    name: str = "CRI-O"

    async def running(self, socket: Path) -> str:
        """The release that runs."""
        return (await ask_version(socket)).release

    async def answers(self, socket: Path) -> None:
        """It answers when it has started."""
        await ask_handlers(socket)

    async def state(self, socket: Path) -> RuntimeState:
        """What it has loaded: names only."""
        handlers = tuple(Handler(name=name) for name in await ask_handlers(socket) if name)
        return RuntimeState(name="crio", release=await self.running(socket), handlers=handlers, cdi_enabled=True)

    async def look(self, place: Place, socket: Path) -> _Look:
        """Look at the node."""
        return _Look(place, await self.running(socket), _read(place))
