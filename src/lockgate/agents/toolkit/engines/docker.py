"""Docker (with cri-dockerd): runtimes and CDI in `daemon.json`, loaded by SIGHUP, verified by the daemon's `/info`.

A running dockerd takes runtimes and default runtime over at SIGHUP, and keeps what it had when the file is bad. CDI it
takes over at its start only (measured with dockerd 26.1.5), and its start ends containers unless `live-restore` is on:
so CDI waits for a restart by a person, unless the restart mode is systemd.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec

from lockgate.agents.toolkit.engines.daemon_json import Record, parse_record, with_runtimes, without_runtimes
from lockgate.agents.toolkit.engines.engine import Place, Planned
from lockgate.containerd import Files, Refusal, Wanted
from lockgate.containerd.dropin_node import text_hash
from lockgate.host.docker import Info, ask_info, flags_of
from lockgate.host.rooted import Root
from lockgate.model.node_state import Handler, RuntimeState

_RELOADS_WITHIN: Final = 5.0  # seconds from SIGHUP to another answer of /info
_PAUSE: Final = 0.1


@dataclass(frozen=True, slots=True)
class _Look:
    place: Place
    release: str
    files: Files
    flags: tuple[str, ...]
    restarts: bool

    def again(self) -> _Look:
        return replace(self, files=_read(self.place))

    def plan(self, wanted: Wanted) -> Planned | Refusal:
        record, text = parse_record(self._text(self.place.drop_in)), self._text(self.place.config)
        if record is not None and text is not None:
            theirs = without_runtimes(self.place.config, text, record)
            if isinstance(theirs, Refusal):
                return theirs
        else:
            theirs = text
        after = with_runtimes(self.place.config, theirs, wanted, self.flags)
        if isinstance(after, Refusal):
            return after
        kept = msgspec.json.encode(Record(before=theirs, names=wanted.handlers, after=text_hash(after))).decode()
        files = {self.place.drop_in: kept, self.place.config: after}
        return Planned(
            files={path: content for path, content in files.items() if self._text(path) != content},
            wrong=_loaded(wanted, cdi=self.restarts),
            later=_later(wanted),
        )

    def removal(self) -> Planned | Refusal:
        """What a running dockerd keeps of it until its next start harms nobody."""
        record, text = parse_record(self._text(self.place.drop_in)), self._text(self.place.config)
        files: dict[str, str | None] = {self.place.drop_in: None} if self._text(self.place.drop_in) is not None else {}
        if record is not None and text is not None:
            theirs = without_runtimes(self.place.config, text, record)
            if isinstance(theirs, Refusal):
                return theirs
            files |= {self.place.config: theirs} if theirs != text else {}
        return Planned(files=files, wrong=_nothing_is_wrong)

    def _text(self, path: str) -> str | None:
        content = self.files.read(path)
        return content.decode("utf-8", "replace") if isinstance(content, bytes) else None


async def _nothing_is_wrong(_: Path) -> tuple[str, ...]:
    return ()


def _loaded(wanted: Wanted, *, cdi: bool) -> Callable[[Path], Awaitable[tuple[str, ...]]]:
    async def wrong(socket: Path) -> tuple[str, ...]:
        found: tuple[str, ...] = ()
        for _ in range(int(_RELOADS_WITHIN / _PAUSE)):
            if not (found := differences(await ask_info(socket), wanted, cdi=cdi)):
                return ()
            await asyncio.sleep(_PAUSE)
        return found

    return wrong


def _later(wanted: Wanted) -> Callable[[Path], Awaitable[str]]:
    async def later(socket: Path) -> str:
        info = await ask_info(socket)
        if not wanted.enable_cdi or info.cdi_spec_dirs:
            return ""
        return (
            f"dockerd {info.server_version} switches CDI on when it starts: `systemctl restart docker` "
            '(which ends containers unless "live-restore" is true), or RUNTIME_RESTART_MODE=systemd'
        )

    return later


def differences(info: Info, wanted: Wanted, *, cdi: bool) -> tuple[str, ...]:
    """How a daemon differs in what we want of it; CDI counts only with `cdi`."""
    found = [f'dockerd has not loaded runtime "{name}"' for name in wanted.handlers if name not in info.runtimes]
    if wanted.default and info.default_runtime != wanted.default:
        found.append(f'dockerd\'s default runtime is "{info.default_runtime}", expected "{wanted.default}"')
    if cdi and wanted.enable_cdi and not info.cdi_spec_dirs:
        found.append("dockerd has not loaded features.cdi = true")
    return tuple(found)


def _read(place: Place) -> Files:
    """The file, and our record, which lies in a folder that is mounted here under its own path."""
    root, record = Root(place.host), Path(place.drop_in)
    entries = {place.drop_in: record.read_bytes()} if record.is_file() else {}
    if resolved := root.resolve(place.config):
        entries[place.config] = root.outside(resolved).read_bytes()
    return Files(entries)


@dataclass(frozen=True, slots=True)
class Docker:
    """`restarts`: whether a change restarts the daemon (mode systemd), instead of making it read its file again."""

    restarts: bool = False
    name: str = "docker"

    async def running(self, socket: Path) -> str:
        """The release that runs."""
        return (await ask_info(socket)).server_version

    async def answers(self, socket: Path) -> None:
        """It answers when it has started."""
        await ask_info(socket)

    async def state(self, socket: Path) -> RuntimeState:
        """What the daemon has loaded."""
        info = await ask_info(socket)
        return RuntimeState(
            name="docker",
            release=info.server_version,
            handlers=tuple(
                Handler(name=name, binary_name=str(runtime.get("path") or ""))
                for name, runtime in sorted(info.runtimes.items())
            ),
            default_handler=info.default_runtime,
            cdi_enabled=bool(info.cdi_spec_dirs),
            cdi_spec_dirs=info.cdi_spec_dirs or (),
        )

    async def look(self, place: Place, socket: Path) -> _Look:
        """Look at the node."""
        return _Look(place, await self.running(socket), _read(place), flags_of(socket), self.restarts)
