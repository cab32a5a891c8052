"""Kubernetes manifests from wherever a person has them: a file, a folder of them, standard input.

A folder is looked through for YAML and JSON that names an `apiVersion`. What a chart still has to render is left out
and said, since it is no YAML yet; so is a file that cannot be read.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lockgate.collect.errors import InputError
from lockgate.collect.file_kinds import SUFFIXES, is_object
from lockgate.collect.members import open_file, read_file
from lockgate.collect.node_tree import CDI_DIRECTORIES, TOP_LEVELS

SIZE_LIMIT: Final = 4 << 20
_MOST: Final = 5000
_LEFT_OUT: Final = ("node_modules", "venv")  # and whatever is hidden


@dataclass(frozen=True, slots=True)
class ManifestFiles:
    """Texts by the path that a person would type, why others were not read, and charts whose templates were not."""

    texts: dict[str, str] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    unrendered: set[str] = field(default_factory=set)


def is_manifest_file(path: Path) -> bool:
    """Whether a file holds manifests, and not CDI specifications."""
    if path.suffix not in SUFFIXES or not path.is_file() or path.stat().st_size > SIZE_LIMIT:
        return False
    return is_object(_text(path))


def is_manifest_folder(path: Path) -> bool:
    """Whether a folder holds manifests, and is no copy of a node's files."""
    if not path.is_dir() or (path / "config.toml").is_file() or (path / "nodes").is_dir():
        return False
    if any((path / inside.lstrip("/")).exists() for inside in (*TOP_LEVELS, *CDI_DIRECTORIES)):
        return False
    return any(is_manifest_file(file) for file in _walk(path) if not _complaint(file))


def read_manifests(path: Path) -> ManifestFiles:
    """The manifests of a file or folder. Raises InputError where there are too many."""
    found = ManifestFiles()
    files = [path] if path.is_file() else list(_walk(path))
    for file in files:
        if file != path and (why := _complaint(file)):
            found.unread[str(file)] = why
        elif _is_template(file, path):
            found.unrendered.add(str(_chart(file)))
        elif file.stat().st_size > SIZE_LIMIT:
            found.unread[str(file)] = f"larger than {SIZE_LIMIT >> 20} MiB"
        elif is_manifest_file(file):
            found.texts[str(file)] = _text(file)
    return found


def _walk(path: Path) -> Iterator[Path]:
    count = 0
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _LEFT_OUT)
        for name in sorted(names):
            if name.endswith(SUFFIXES):
                count += 1
                if count > _MOST:
                    raise InputError(f"{path}: more than {_MOST} YAML and JSON files; name a folder in it")
                yield Path(folder, name)


def _complaint(file: Path) -> str:
    """Why a file cannot be read, "" where it can: one of many is left out for it."""
    try:
        with open_file(file):
            return ""
    except InputError as error:
        return str(error).removeprefix(f"{file}: ")


def _is_template(file: Path, named: Path) -> bool:
    return named.is_dir() and "templates" in file.relative_to(named).parts[:-1] and _chart(file) is not None


def _chart(file: Path) -> Path | None:
    return next((folder for folder in file.parents if (folder / "Chart.yaml").is_file()), None)


def _text(path: Path) -> str:
    return read_file(path, SIZE_LIMIT).decode("utf-8", "replace")
