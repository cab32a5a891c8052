"""A node's containerd and CDI files from wherever a person has them: a file, a folder, an archive.

What a path stands for is told by looking: `config.toml` beside its drop-in folders, a folder with `config.toml` in it,
a folder with `etc/containerd` in it, a folder or file of CDI specifications, or an archive of such a folder. Bundles
with `nodes/<node>/` are read by `collect.folder`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from os.path import normpath
from pathlib import Path
from typing import Final

from lockgate.collect.bounds import too_large
from lockgate.collect.errors import InputError
from lockgate.collect.file_kinds import (
    SPECIFICATIONS,
    SUFFIXES,
    is_containerd,
    is_containerd_text,
    is_object,
    is_specification,
)
from lockgate.collect.left_members import ignore
from lockgate.collect.manifest_files import SIZE_LIMIT
from lockgate.collect.members import is_archive, members, read_file, read_head
from lockgate.collect.node_host import host_trees
from lockgate.collect.node_tree import (
    CDI_DIRECTORIES,
    TEXT_LIMIT,
    TOP_LEVELS,
    VERSION_FILES,
    NodeTree,
    outputs_in,
    version_in,
)
from lockgate.containerd.imports import File
from lockgate.containerd.releases import Release
from lockgate.model.facts import BY_PLURAL

_STANDS_FOR: Final = "/etc/containerd"
_TEXTS: Final = (".toml", ".json", ".yaml")
_MOST: Final = 1000


def is_bundle(path: Path) -> bool:
    """Whether a folder or archive has `nodes/<node>/` (or `cluster/`) in it, at its top or one folder below."""
    if path.is_dir():
        if any(any(path.glob(pattern)) for pattern in ("nodes/*", "*/nodes/*")):
            return True
        # A folder `cluster` may be of manifests too: a bundle's files are named by the plural of what they hold.
        return any(p.stem.split(".")[0] in BY_PLURAL for pat in ("cluster/*", "*/cluster/*") for p in path.glob(pat))
    if not is_archive(read_head(path)):
        return False
    return any(True for _ in members(path, _in_bundle, ignore))


def _in_bundle(name: str) -> bool:
    return any(part in ("nodes", "cluster") for part in name.split("/")[:-2])


def is_node_file(path: Path) -> bool:
    """Whether a file is a CDI specification, a part of containerd's configuration, or an archive that may hold them."""
    if is_archive(_head(path)):
        return True
    text, size = _text(path), path.stat().st_size
    if size > SIZE_LIMIT and path.suffix in SUFFIXES and is_object(text):
        raise too_large(str(path), size, SIZE_LIMIT)
    return is_specification(path, text) or is_containerd(path, text)


def _text(path: Path) -> str:
    """As far as it tells what the file is: a file that is too long is told where it is read."""
    with path.open("rb") as file:
        return file.read(4 * TEXT_LIMIT).decode("utf-8", "replace")


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
        elif path.suffix in SPECIFICATIONS:
            found.append(_specification(path))
        else:
            named.append(path)
    for top, files in _by_top_level(named).items():
        found.append(_top_level(top, files, release, host))
    return found


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
        return host_trees(path, release, writable=None)
    stock = _root_of_stock(path)
    if stock is not None:
        return host_trees(stock, release, None, TOP_LEVELS[:1])
    inside = dict(_texts(path))
    if "config.toml" in inside and is_containerd(
        path / "config.toml", inside["config.toml"].decode("utf-8", "replace")
    ):
        files: dict[str, File] = {f"{_STANDS_FOR}/{name}": data for name, data in inside.items()}
        return [_tree(path, files, _STANDS_FOR, f"{_STANDS_FOR}/config.toml")]
    specs: dict[str, File] = {
        f"/etc/cdi/{name}": data
        for name, data in inside.items()
        if "/" not in name and is_specification(path / name, data.decode("utf-8", "replace"))
    }
    if specs:
        return [_tree(path, specs, "/etc/cdi", "")]
    raise InputError(
        f"{path}: holds no config.toml, no etc/containerd/, no CDI specification or manifest (*.json, *.yaml) and no "
        "nodes/<node>/"
    )


def _root_of_stock(path: Path) -> Path | None:
    """The folder that stands for `/` when a path is its `etc/containerd`: there, links are followed as on the node."""
    text = str(path) if str(path).endswith(_STANDS_FOR) else str(path.absolute())
    named = text.endswith(_STANDS_FOR) and (path / "config.toml").is_file()
    return Path(text.removesuffix(_STANDS_FOR) or "/") if named else None


def _has_top(path: Path) -> bool:
    return any((path / top.lstrip("/")).is_file() for top in TOP_LEVELS)


def _texts(path: Path) -> Iterator[tuple[str, bytes]]:
    for member in members(path, lambda name: name.endswith(_TEXTS) and not name.startswith("certs.d/")):
        yield member.path, member.read(TEXT_LIMIT)


def _tree(folder: Path, files: Mapping[str, File], stands_for: str, root: str) -> NodeTree:
    places = {path: str(folder / path.removeprefix(f"{stands_for}/")) for path in files}
    return NodeTree(
        files=files,
        root=root,
        places=places,
        writable=frozenset(files),
        version=version_in(folder, folder.parent),
        outputs=outputs_in(folder, folder.parent),
    )


# --- single files


def _by_top_level(named: Iterable[Path]) -> dict[Path, list[Path]]:
    """The named files by the top-level file that they belong to: a drop-in's is the one beside its folder."""
    tops: dict[Path, Path] = {}
    grouped: dict[Path, list[Path]] = {}
    for path in named:
        above = Path(normpath(path.parent / "..")) / "config.toml"
        top = above if path.absolute().parent.name.endswith(".d") and above.is_file() else path
        grouped.setdefault(tops.setdefault(Path(normpath(top.absolute())), top), []).append(path)
    return grouped


def _top_level(top: Path, named: list[Path], release: Release | None, host: str | None) -> NodeTree:
    absolute = top.absolute()
    inside = next((p for p in TOP_LEVELS if str(absolute).endswith(p)), "")
    if host is not None or inside:
        root = Path(host) if host is not None else Path(str(absolute).removesuffix(inside) or "/")
        tree = host_trees(root, release, frozenset(), (inside or TOP_LEVELS[0],))[0]
        if tree.root:
            return _named(tree, named)
    files: dict[str, File] = {f"{_STANDS_FOR}/{top.name}": read_file(top, TEXT_LIMIT)}
    for path in [*sorted(top.parent.glob("*.toml")), *sorted(top.parent.glob("*.d/*.toml"))][:_MOST]:
        relative = path.relative_to(top.parent).as_posix()
        if path.is_file():
            files[f"{_STANDS_FOR}/{relative}"] = read_file(path, TEXT_LIMIT)
    return _named(_tree(top.parent, files, _STANDS_FOR, f"{_STANDS_FOR}/{top.name}"), named)


def _named(tree: NodeTree, named: list[Path]) -> NodeTree:
    """Only what a person named may be written."""
    wanted = {str(path.absolute()): str(path) for path in named}
    places = {path: wanted.get(str(Path(place).absolute()), place) for path, place in tree.places.items()}
    writable = frozenset(path for path, place in tree.places.items() if str(Path(place).absolute()) in wanted)
    return replace(tree, places=places, writable=writable)


def _specification(path: Path) -> NodeTree:
    place = f"/etc/cdi/{path.name}"
    return NodeTree(
        files={place: read_file(path, 4 * TEXT_LIMIT)}, places={place: str(path)}, writable=frozenset({place})
    )


# --- archives


def _is_top(name: str, data: bytes) -> bool:
    return name.rpartition("/")[2] == "config.toml" and is_containerd_text(data.decode("utf-8", "replace"), named=True)


def _archive(path: Path) -> list[NodeTree]:
    inside = {m.path: m.read(TEXT_LIMIT) for m in members(path, lambda name: name.endswith(_TEXTS + VERSION_FILES))}
    version = next(
        (data.decode("utf-8", "replace") for name, data in inside.items() if name.endswith(VERSION_FILES)), ""
    )
    tops = [name for name in inside if f"/{name}".endswith(TOP_LEVELS)]
    if tops:
        inner = next(top for top in TOP_LEVELS if f"/{tops[0]}".endswith(top))
        prefix, base = f"/{tops[0]}".removesuffix(inner).lstrip("/"), ""
    else:
        found = sorted((name for name, data in inside.items() if _is_top(name, data)), key=len)
        if not found:
            raise InputError(f"{path}: holds no config.toml, no etc/containerd/ and no nodes/<node>/")
        prefix, base, inner = found[0].rpartition("/")[0], _STANDS_FOR, f"{_STANDS_FOR}/config.toml"
    start = f"{prefix}/" if prefix else ""
    files: dict[str, File] = {f"{base}/{n.removeprefix(start)}": d for n, d in inside.items() if n.startswith(start)}
    return [NodeTree(files=files, root=inner, places={p: f"{path}:{p}" for p in files}, version=version)]
