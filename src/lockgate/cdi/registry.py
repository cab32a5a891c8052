"""A set of directories as the runtime sees it: which devices they define, and which files are no use and why.

Source: `Cache.refresh` of the reference library v1.1.2. A later directory goes before an earlier one. A name that two
files of one directory define is dropped everywhere, even from directories that would go before. One bad file does no
harm to the others, but a directory that cannot be listed hides all later ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

from lockgate.cdi.decode import DocumentError, parse_spec
from lockgate.cdi.spec import Device, Spec
from lockgate.cdi.text import quote
from lockgate.cdi.validate import CrashingSpecError, InvalidSpecError, check_spec

EXTENSIONS: Final = (".json", ".yaml")
DEFAULT_DIRECTORIES: Final = ("/etc/cdi", "/var/run/cdi")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A file that could not be read, and why."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Directory:
    """One directory's files by name; None where it exists and cannot be listed. A missing one is left out."""

    path: str
    files: Mapping[str, bytes | Unreadable] | None


@dataclass(frozen=True, slots=True)
class File:
    """A valid specification file; `priority` is its directory's place in the order."""

    path: str
    priority: int
    spec: Spec


@dataclass(frozen=True, slots=True)
class Found:
    """A device and the file that defines it."""

    file: File
    device: Device


@dataclass(slots=True)
class Registry:
    """Devices by qualified name, troubles by file path, and the names dropped because two files claim them."""

    devices: dict[str, Found] = field(default_factory=dict)
    files: list[File] = field(default_factory=list)
    troubles: dict[str, list[str]] = field(default_factory=dict)
    conflicts: set[str] = field(default_factory=set)
    crashing: list[str] = field(default_factory=list)

    @property
    def kinds(self) -> tuple[str, ...]:
        """Every kind that a valid file defines, sorted."""
        return tuple(sorted({file.spec.kind for file in self.files}))


def load(directories: Sequence[Directory]) -> Registry:
    """Read directories, the lowest priority first."""
    registry = Registry()
    for priority, directory in enumerate(directories):
        if directory.files is None:
            break
        for name in sorted(directory.files, key=str.encode):
            if PurePosixPath(name).suffix in EXTENSIONS or name in EXTENSIONS:
                _take(registry, f"{directory.path.rstrip('/')}/{name}", priority, directory.files[name])
    for name in registry.conflicts:
        del registry.devices[name]
    return registry


def _take(registry: Registry, path: str, priority: int, content: bytes | Unreadable) -> None:
    try:
        file = File(path, priority, _read(path, content))
    except CrashingSpecError as error:
        registry.crashing.append(path)
        _trouble(registry, path, str(error))
    except ValueError as error:
        _trouble(registry, path, f"failed to load CDI Spec {error}")
    else:
        registry.files.append(file)
        for name, device in _devices(file):
            _add(registry, name, Found(file, device))


def _read(path: str, content: bytes | Unreadable) -> Spec:
    if isinstance(content, Unreadable):
        raise DocumentError(f"failed to read CDI Spec {quote(path)}: {content.reason}")
    try:
        spec = parse_spec(content)
    except DocumentError as error:
        comma = "," if str(error) == "no Spec data" else ":"
        raise DocumentError(f"failed to parse CDI Spec {quote(path)}{comma} {error}") from None
    try:
        check_spec(spec)
    except CrashingSpecError:
        raise
    except InvalidSpecError as error:
        raise InvalidSpecError(f"invalid CDI Spec: {error}") from None
    return spec


def _devices(file: File) -> Iterator[tuple[str, Device]]:
    for device in file.spec.devices:
        yield file.spec.qualified(device.name), device


def _add(registry: Registry, name: str, found: Found) -> None:
    other = registry.devices.get(name)
    if other is not None and other.file.priority == found.file.priority:
        paths = (found.file.path, other.file.path)
        for path in paths:
            _trouble(registry, path, f"conflicting device {quote(name)} (specs {quote(paths[0])}, {quote(paths[1])})")
        registry.conflicts.add(name)
    else:
        registry.devices[name] = found


def _trouble(registry: Registry, path: str, text: str) -> None:
    registry.troubles.setdefault(path, []).append(text)
