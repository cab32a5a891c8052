"""A node's configuration files and CDI specifications as GPUNodeState has them: bounded, masked, equal at each look."""

import datetime as dt
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from lockgate.cdi.registry import DEFAULT_DIRECTORIES, Registry
from lockgate.containerd import Files
from lockgate.host.cdi_directories import SIZE_LIMIT, read_directories
from lockgate.host.rooted import Root
from lockgate.model.node_state import CDISpec, CDIState, ConfigFile, RuntimeState

TEXT_LIMIT: Final = 16 << 10
SPEC_LIMIT: Final = 32 << 10  # of one CDI specification
SPECS_LIMIT: Final = 96 << 10  # of all of a node
_FILES: Final = 40  # configuration files that are published at most
_SECRET: Final = re.compile(
    r"^(\s*[\"']?(?:password|auth|identitytoken|registrytoken|username|token|secret)[\"']?\s*=\s*).+$",
    re.IGNORECASE | re.MULTILINE,
)
# An inline table, as in `auth = { username = "x", password = "y" }`, is covered by the line rule; this one by pairs.
_SECRET_PAIR: Final = re.compile(
    r"((?:password|auth|identitytoken|registrytoken|username|token|secret)[\"']?\s*=\s*)(\"[^\"\n]*\"|'[^'\n]*')",
    re.IGNORECASE,
)


def config_files(host: Path, files: Files, loaded: Iterable[str]) -> tuple[ConfigFile, ...]:
    """The loaded files in the order of loading, then those beside them that are not loaded."""
    return tuple(_config_files(host, files, loaded))


def _config_files(host: Path, files: Files, loaded: Iterable[str]) -> Iterator[ConfigFile]:
    rest = sorted(path for path in files.entries if path.endswith((".toml", ".conf")))
    for path in list(dict.fromkeys((*loaded, *rest)))[:_FILES]:
        content = files.read(path)
        if isinstance(content, str | bytes):
            data = content.encode() if isinstance(content, str) else content
            yield _config_file(path, data, _modified(host, path))


def _config_file(path: str, content: bytes, modified: str) -> ConfigFile:
    text = mask(content.decode("utf-8", "replace"))
    return ConfigFile(
        path=path,
        sha256=hashlib.sha256(content).hexdigest(),
        modified=modified,
        text=text[:TEXT_LIMIT],
        truncated=len(text) > TEXT_LIMIT,
    )


def _modified(host: Path, path: str) -> str:
    """When a file was written last; "" when it has gone since it was read."""
    root = Root(host)
    resolved = root.resolve(path)
    try:
        seconds = root.outside(resolved).stat().st_mtime if resolved else None
    except OSError:
        return ""
    return rfc3339(dt.datetime.fromtimestamp(int(seconds), dt.UTC)) if seconds is not None else ""


def rfc3339(moment: dt.datetime) -> str:
    """A moment as objects of the API have it."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def mask(text: str) -> str:
    """Credentials of registries replaced, one line staying one line."""
    return _SECRET_PAIR.sub(r'\1"***"', _SECRET.sub(r'\1"***"', text))


def cdi_state(host: Path, directories: Iterable[str]) -> CDIState:
    """Every specification file of the node's CDI directories, what the runtime makes of it, its text where it fits."""
    return CDIState(specs=tuple(_with_texts(host, _specs(read_directories(host, directories)))))


def spec_directories(state: RuntimeState) -> tuple[str, ...]:
    """The directories that the runtime reads, or would by default."""
    return state.cdi_spec_dirs or DEFAULT_DIRECTORIES


def _specs(registry: Registry) -> Iterator[CDISpec]:
    good = {
        file.path: CDISpec(
            path=file.path,
            kind=file.spec.kind,
            devices=tuple(device.name for device in file.spec.devices),
            error="; ".join(registry.troubles.get(file.path, ())),
        )
        for file in registry.files
    }
    bad = {
        path: CDISpec(path=path, error="; ".join(texts))
        for path, texts in registry.troubles.items()
        if path not in good
    }
    yield from (spec for _, spec in sorted({**good, **bad}.items()))


def _with_texts(host: Path, specs: Iterable[CDISpec]) -> Iterator[CDISpec]:
    """The texts as far as they fit, in the order of paths: which are left out does not depend on chance."""
    root, room = Root(host), SPECS_LIMIT
    for spec in specs:
        content = _bytes(root, spec.path)
        if content is None:
            yield spec  # a directory, or gone since
            continue
        fits = len(content) <= min(SPEC_LIMIT, room)
        room -= len(content) if fits else 0
        yield msgspec.structs.replace(
            spec,
            sha256=hashlib.sha256(content).hexdigest(),
            text=content.decode("utf-8", "replace") if fits else "",
            truncated=not fits,
        )


def _bytes(root: Root, path: str) -> bytes | None:
    resolved = root.resolve(path)
    try:
        if resolved is None:
            return None
        with root.outside(resolved).open("rb") as file:
            return file.read(SIZE_LIMIT + 1)
    except OSError:
        return None
