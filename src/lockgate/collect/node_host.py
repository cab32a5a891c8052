"""The files of a node in a folder that stands for its `/`: each top-level configuration with all that it may import."""

import datetime as dt
from collections.abc import Iterable, Mapping
from pathlib import Path

from lockgate.collect.errors import InputError
from lockgate.collect.members import read_file
from lockgate.collect.node_tree import CDI_DIRECTORIES, TEXT_LIMIT, TOP_LEVELS, NodeTree, outputs_in, version_in
from lockgate.containerd.imports import File, Unreadable
from lockgate.containerd.releases import FAMILIES, Release
from lockgate.host.containerd_files import COUNT_LIMIT, NOT_READ, read_files
from lockgate.host.distributions import DISTRIBUTIONS
from lockgate.host.processes import NoServerError, find_server, started_at
from lockgate.host.rooted import Root


def host_trees(
    host: Path, release: Release | None, writable: frozenset[str] | None, tops: Iterable[str] = TOP_LEVELS
) -> list[NodeTree]:
    """A tree for each of some top-level files that is there, else one with the CDI specifications alone.

    `writable` are the paths that may be written, None for all.
    """
    root = Root(host)
    specs = _host_specs(root)
    trees = [_host_tree(root, top, specs, release, writable) for top in tops if root.resolve(top)]
    return trees or [_host_tree(root, "", specs, release, writable)]


def _host_tree(
    root: Root, top: str, specs: Mapping[str, File], release: Release | None, writable: frozenset[str] | None
) -> NodeTree:
    version = version_in(root.path, (root.path / top.lstrip("/")).parent)
    files: dict[str, File] = dict(specs)
    if top:
        parent = top.rpartition("/")[0]
        folders = [f"{parent}/{name}" for name in root.names(parent) if name.endswith(".d") and name != "certs.d"]
        read = read_files(root.path, top, _release(version, release), [*folders, *_stock(top)]).entries
        _check_limits(root, read)
        files |= read
        files |= _templates(root, parent)
    started = _running_since(root, top)
    # Links are followed inside of the folder, so that nobody writes through one that leads out of it.
    places = {path: str(root.outside(root.resolve(path) or path)) for path in files}
    return NodeTree(
        files=files,
        root=top,
        places=places,
        writable=frozenset(files) if writable is None else writable,
        host=root.path,
        version=version,
        outputs=outputs_in(root.path, (root.path / top.lstrip("/")).parent),
        started=started,
        modified=_modified(root, files) if started else {},
    )


def _check_limits(root: Root, read: Mapping[str, File]) -> None:
    """Refuse what only we do not read: containerd does, and nobody knows what it finds there."""
    if len(read) >= COUNT_LIMIT:
        raise InputError(f"{root.path}: {COUNT_LIMIT:,} configuration files or more, and fewer are read")
    for path, content in read.items():
        if isinstance(content, Unreadable) and content.reason == NOT_READ:
            raise InputError(f"{root.outside(root.resolve(path) or path)}: is {NOT_READ}")


def _templates(root: Root, folder: str) -> dict[str, File]:
    """What K3s and RKE2 make their top-level file of, where a person has put one there."""
    names = [name for name in root.names(folder) if name.endswith(".toml.tmpl") and root.resolve(f"{folder}/{name}")]
    places = {f"{folder}/{name}": root.resolve(f"{folder}/{name}") or "" for name in names}
    return {path: read_file(root.outside(place), TEXT_LIMIT) for path, place in places.items()}


def _running_since(root: Root, top: str) -> dt.datetime | None:
    """Since when the containerd of a top-level file runs, where this machine is the node and may ask its socket."""
    sockets = [one.socket for one in DISTRIBUTIONS if one.config == top]
    for path in sockets:
        try:
            return started_at(find_server(root.path / path[1:]))
        except (NoServerError, OSError, ValueError, StopIteration):
            continue
    return None


def _modified(root: Root, files: Iterable[str]) -> dict[str, dt.datetime]:
    found = {}
    for path in files:
        try:
            seconds = root.outside(root.resolve(path) or path).stat().st_mtime
        except OSError:
            continue  # it has gone since it was read
        found[path] = dt.datetime.fromtimestamp(seconds, dt.UTC)
    return found


def _stock(top: str) -> tuple[str, ...]:
    """Folders of the stock containerd, looked at besides: a toolkit may have written there by mistake."""
    return () if top == TOP_LEVELS[0] else ("/etc/containerd", "/etc/containerd/conf.d")


def _host_specs(root: Root) -> dict[str, File]:
    found: dict[str, File] = {}
    real: set[str] = set()
    for directory in CDI_DIRECTORIES:
        resolved = root.resolve(directory)
        if resolved is None or resolved in real:
            continue
        real.add(resolved)
        names = list(root.names(directory))
        if len(names) > COUNT_LIMIT:
            raise InputError(f"{root.outside(resolved)}: holds more than {COUNT_LIMIT:,} files; name one of them")
        for name in names:
            inside = root.find(directory, name)
            if name.endswith((".json", ".yaml")) and inside is not None:
                found[f"{directory}/{name}"] = read_file(root.outside(inside), 4 * TEXT_LIMIT)
    return found


def _release(version: str, release: Release | None) -> Release:
    """The release that is used to follow imports; any will do where it is not known."""
    if release is not None:
        return release
    try:
        return Release.parse(version)
    except ValueError:
        return Release.parse(FAMILIES[-1].since)
