"""A node's containerd and CDI files from wherever a person has them: a file, a folder, an archive.

What a path stands for is told by looking: `config.toml` beside its drop-in folders, a folder with `config.toml` in it,
a folder with `etc/containerd` in it, a folder or file of CDI specifications, or an archive of such a folder. Bundles
with `nodes/<node>/` are read by `collect.folder`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lockgate.collect.errors import InputError
from lockgate.collect.members import is_archive, members, read_file, read_head
from lockgate.containerd.imports import File
from lockgate.containerd.releases import FAMILIES, Release
from lockgate.host.containerd_files import read_files
from lockgate.host.rooted import Root

TOP_LEVELS: Final = (
    "/etc/containerd/config.toml",
    "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
    "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
    "/etc/k0s/containerd.toml",
    "/var/snap/microk8s/current/args/containerd.toml",
)
CDI_DIRECTORIES: Final = ("/etc/cdi", "/var/run/cdi", "/run/cdi")
_STANDS_FOR: Final = "/etc/containerd"
_VERSION: Final = ("containerd-version.txt", "containerd-version")
_TEXTS: Final = (".toml", ".json", ".yaml")
_LIMIT: Final = 1 << 20
_MOST: Final = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTree:
    """Files by their path on the node. `root` is the top-level configuration, "" when there is none.

    `places` tells where each lies on this machine ("" part of an archive), `writable` which of them a person named;
    `host` is the folder that stands for the node's `/`, where there is one; `version` what `containerd --version` said.
    """

    files: Mapping[str, File]
    root: str = ""
    places: Mapping[str, str] = field(default_factory=dict)
    writable: frozenset[str] = frozenset()
    host: Path | None = None
    version: str = ""


def is_bundle(path: Path) -> bool:
    """Whether a folder or archive has `nodes/<node>/` (or `cluster/`) in it, at its top or one folder below."""
    if path.is_dir():
        return any(any(path.glob(pattern)) for pattern in ("nodes/*", "cluster/*", "*/nodes/*", "*/cluster/*"))
    if not is_archive(read_head(path)):
        return False
    return any(True for _ in members(path, _in_bundle))


def _in_bundle(name: str) -> bool:
    return any(part in ("nodes", "cluster") for part in name.split("/")[:-2])


def node_trees(paths: Iterable[str], release: Release | None, host: str | None = None) -> list[NodeTree]:
    """The trees that some paths stand for; raises InputError where one stands for nothing.

    `host` is the folder that stands for the node's `/`, where the paths themselves do not tell.
    """
    found, named = [], []
    for text in paths:
        path = Path(text)
        if path.is_dir():
            found += _folder(path, release)
        elif is_archive(_head(path)):
            found += _archive(path)
        elif path.suffix in (".json", ".yaml"):
            found.append(_specification(path))
        else:
            named.append(path)
    for top, files in _by_top_level(named).items():
        found.append(_top_level(top, files, release, host))
    return found


def presence(tree: NodeTree, asked: Iterable[str]) -> dict[str, bool]:
    """Whether the node has some paths; those about which the tree cannot tell are left out.

    A tree tells about `/usr/...` when it has a `/usr`: a copy of `/etc` alone says nothing about programs.
    """
    if tree.host is None:
        return {}
    root = Root(tree.host)
    known = {area: _is_real(root, area) for area in {path.split("/")[1] for path in asked if path.startswith("/")}}
    return {p: root.resolve(p) is not None for p in asked if p.startswith("/") and known[p.split("/")[1]]}


def _is_real(root: Root, area: str) -> bool:
    """A `/dev` without `/dev/null` is no node's."""
    return root.resolve("/dev/null") is not None if area == "dev" else any(root.names(f"/{area}"))


def _head(path: Path) -> bytes:
    try:
        return read_head(path)
    except OSError as error:
        reason = "there is no such file or folder" if isinstance(error, FileNotFoundError) else error.strerror
        raise InputError(f"{path}: {reason}") from None
    except ValueError as error:
        raise InputError(f"{str(path)!r}: {error}") from None


# --- folders


def _folder(path: Path, release: Release | None) -> list[NodeTree]:
    if any((path / inside.lstrip("/")).is_dir() for inside in (_STANDS_FOR, *CDI_DIRECTORIES)) or _has_top(path):
        return _host(path, release, writable=None)
    inside = dict(_texts(path))
    if "config.toml" in inside:
        files: dict[str, File] = {f"{_STANDS_FOR}/{name}": data for name, data in inside.items()}
        return [_tree(path, files, _STANDS_FOR, f"{_STANDS_FOR}/config.toml")]
    specs: dict[str, File] = {
        f"/etc/cdi/{name}": data
        for name, data in inside.items()
        if name.endswith((".json", ".yaml")) and "/" not in name
    }
    if specs:
        return [_tree(path, specs, "/etc/cdi", "")]
    raise InputError(
        f"{path}: holds no config.toml, no etc/containerd/, no CDI specification (*.json, *.yaml) and no nodes/<node>/"
    )


def _has_top(path: Path) -> bool:
    return any((path / top.lstrip("/")).is_file() for top in TOP_LEVELS)


def _texts(path: Path) -> Iterator[tuple[str, bytes]]:
    for member in members(path, lambda name: name.endswith(_TEXTS) and not name.startswith("certs.d/")):
        yield member.path, member.data


def _tree(folder: Path, files: Mapping[str, File], stands_for: str, root: str) -> NodeTree:
    places = {path: str(folder / path.removeprefix(f"{stands_for}/")) for path in files}
    return NodeTree(
        files=files, root=root, places=places, writable=frozenset(files), version=_version(folder, folder.parent)
    )


def _version(*folders: Path) -> str:
    for folder in folders:
        for name in _VERSION:
            file = folder / name
            if file.is_file():
                return read_file(file, _LIMIT).decode("utf-8", "replace")
    return ""


# --- a folder that stands for `/`


def _host(
    host: Path, release: Release | None, writable: frozenset[str] | None, tops: Iterable[str] = TOP_LEVELS
) -> list[NodeTree]:
    root = Root(host)
    specs = _host_specs(root)
    trees = [_host_tree(root, top, specs, release, writable) for top in tops if root.resolve(top)]
    return trees or [_host_tree(root, "", specs, release, writable)]


def _host_tree(
    root: Root, top: str, specs: Mapping[str, File], release: Release | None, writable: frozenset[str] | None
) -> NodeTree:
    version = _version(root.path)
    files: dict[str, File] = dict(specs)
    if top:
        parent = top.rpartition("/")[0]
        folders = [f"{parent}/{name}" for name in root.names(parent) if name.endswith(".d") and name != "certs.d"]
        files |= read_files(root.path, top, _release(version, release), folders).entries
    places = {path: str(root.path / path.lstrip("/")) for path in files}
    return NodeTree(
        files=files,
        root=top,
        places=places,
        writable=frozenset(files) if writable is None else writable,
        host=root.path,
        version=version,
    )


def _host_specs(root: Root) -> dict[str, File]:
    found: dict[str, File] = {}
    real: set[str] = set()
    for directory in CDI_DIRECTORIES:
        resolved = root.resolve(directory)
        if resolved is None or resolved in real:
            continue
        real.add(resolved)
        for name in root.names(directory):
            inside = root.find(directory, name)
            if name.endswith((".json", ".yaml")) and inside is not None:
                found[f"{directory}/{name}"] = read_file(root.outside(inside), 4 * _LIMIT)
    return found


def _release(version: str, release: Release | None) -> Release:
    """The release that is used to follow imports; any will do where it is not known."""
    if release is not None:
        return release
    try:
        return Release.parse(version)
    except ValueError:
        return Release.parse(FAMILIES[-1].since)


# --- single files


def _by_top_level(named: Iterable[Path]) -> dict[Path, list[Path]]:
    """The named files by the top-level file that they belong to: a drop-in's is the one beside its folder."""
    grouped: dict[Path, list[Path]] = {}
    for path in named:
        above = path.absolute().parent.parent / "config.toml"
        is_dropin = path.absolute().parent.name.endswith(".d") and above.is_file()
        grouped.setdefault(above if is_dropin else path, []).append(path)
    return {Path(top): files for top, files in grouped.items()}


def _top_level(top: Path, named: list[Path], release: Release | None, host: str | None) -> NodeTree:
    absolute = top.absolute()
    inside = next((p for p in TOP_LEVELS if str(absolute).endswith(p)), "")
    if host is not None or inside:
        root = Path(host) if host is not None else Path(str(absolute).removesuffix(inside) or "/")
        tree = _host(root, release, frozenset(), (inside or TOP_LEVELS[0],))[0]
        if tree.root:
            return _named(tree, named)
    files: dict[str, File] = {f"{_STANDS_FOR}/{top.name}": read_file(top, _LIMIT)}
    for path in [*sorted(top.parent.glob("*.toml")), *sorted(top.parent.glob("*.d/*.toml"))][:_MOST]:
        relative = path.relative_to(top.parent).as_posix()
        if path.is_file():
            files[f"{_STANDS_FOR}/{relative}"] = read_file(path, _LIMIT)
    return _named(_tree(top.parent, files, _STANDS_FOR, f"{_STANDS_FOR}/{top.name}"), named)


def _named(tree: NodeTree, named: list[Path]) -> NodeTree:
    """Only what a person named may be written."""
    wanted = {str(path.absolute()): str(path) for path in named}
    places = {path: wanted.get(str(Path(place).absolute()), place) for path, place in tree.places.items()}
    writable = frozenset(path for path, place in tree.places.items() if str(Path(place).absolute()) in wanted)
    return NodeTree(
        files=tree.files, root=tree.root, places=places, writable=writable, host=tree.host, version=tree.version
    )


def _specification(path: Path) -> NodeTree:
    place = f"/etc/cdi/{path.name}"
    return NodeTree(files={place: read_file(path, 4 * _LIMIT)}, places={place: str(path)}, writable=frozenset({place}))


# --- archives


def _archive(path: Path) -> list[NodeTree]:
    inside = {m.path: m.data for m in members(path, lambda name: name.endswith(_TEXTS + _VERSION))}
    version = next((data.decode("utf-8", "replace") for name, data in inside.items() if name.endswith(_VERSION)), "")
    tops = [name for name in inside if f"/{name}".endswith(TOP_LEVELS)]
    if tops:
        inner = next(top for top in TOP_LEVELS if f"/{tops[0]}".endswith(top))
        prefix, base = f"/{tops[0]}".removesuffix(inner).lstrip("/"), ""
    else:
        found = sorted((name for name in inside if name.rpartition("/")[2] == "config.toml"), key=len)
        if not found:
            raise InputError(f"{path}: holds no config.toml, no etc/containerd/ and no nodes/<node>/")
        prefix, base, inner = found[0].rpartition("/")[0], _STANDS_FOR, f"{_STANDS_FOR}/config.toml"
    start = f"{prefix}/" if prefix else ""
    files: dict[str, File] = {f"{base}/{n.removeprefix(start)}": d for n, d in inside.items() if n.startswith(start)}
    return [NodeTree(files=files, root=inner, places={p: f"{path}:{p}" for p in files}, version=version)]
