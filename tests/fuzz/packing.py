"""A tree of files as what somebody sends: a folder, a tar, a zip; with what honest programs never put into one."""

import gzip
import io
import os
import random
import socket
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Final

from tests.fuzz.spoil_bytes import OF_BYTES
from tests.fuzz.spoil_trees import Tree

Pack = Callable[[Tree, Path, random.Random, bool], Path]
_BOMB: Final = 300 << 20  # more than is read of one file
_LARGEST: Final = 32 << 20  # bytes of an archive that is still changed
_INSIDE: Final = ("cluster/pods.json", "cluster/events.json", "logs/a/b/c.log", "nodes/n/dmesg.txt", "x/y")


def as_folder(tree: Tree, place: Path, dice: random.Random, hostile: bool) -> Path:
    """The files as they are, and where it is hostile something among them that is no file."""
    root = place / "bundle"
    root.mkdir()
    for path, data in tree.items():
        _put(root, path, data)
    if hostile:
        dice.choice(_OF_FOLDERS)(root / dice.choice(_INSIDE))
    return root


def as_file(tree: Tree, place: Path, dice: random.Random, hostile: bool) -> Path:
    """The only file, under its own name."""
    path, data = next(iter(tree.items()))
    target = place / (PurePosixPath(path).name[:100] or "x")
    if hostile:
        dice.choice(_OF_FOLDERS)(target)
    else:
        target.write_bytes(data)
    return target


def as_tar(tree: Tree, place: Path, dice: random.Random, hostile: bool) -> Path:
    """A tar, in one of its formats."""
    target = place / "bundle.tar"
    with tarfile.open(
        target, "w", format=dice.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    ) as tar:
        for path, data in tree.items():
            _add(tar, path, data)
        if hostile:
            dice.choice(_OF_TARS)(tar)
    return _spoilt(target, dice, hostile)


def as_tgz(tree: Tree, place: Path, dice: random.Random, hostile: bool) -> Path:
    """The same through gzip; a hostile one may be several members, or packed twice."""
    plain = as_tar(tree, place, dice, hostile).read_bytes()
    packed = gzip.compress(plain, 1)
    if hostile:
        packed = dice.choice((packed, packed + packed, packed + b"rest", gzip.compress(packed), packed[:-8]))
    (place / "bundle.tgz").write_bytes(packed)
    return _spoilt(place / "bundle.tgz", dice, hostile)


def as_zip(tree: Tree, place: Path, dice: random.Random, hostile: bool) -> Path:
    """A zip as Unix, macOS or Windows writes it."""
    target, windows = place / "bundle.zip", dice.random() < 0.4
    method = dice.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    with zipfile.ZipFile(target, "w", method) as archive:
        for path, data in tree.items():
            archive.writestr(_zip_name(path, windows), data)
        if hostile:
            dice.choice(_OF_ZIPS)(archive)
    return _spoilt(target, dice, hostile)


def _put(root: Path, path: str, data: bytes) -> None:
    """Below the root only: a folder on a disk has no file at `../x`."""
    parts = [part[:200] for part in path.replace("\0", "").split("/") if part not in ("", ".", "..")]
    target = root.joinpath(*parts)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    except OSError:
        return  # a file stands where a folder should be


def _spoilt(target: Path, dice: random.Random, hostile: bool) -> Path:
    if hostile and dice.random() < 0.5 and target.stat().st_size < _LARGEST:
        target.write_bytes(dice.choice(OF_BYTES)(target.read_bytes(), dice))
    return target


# --- no files


def _beside(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def made(target: Path) -> None:
        if target.is_file():
            target.unlink()
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            make(target)

    return made


def _pipe(target: Path) -> None:
    os.mkfifo(target)


def _listening(target: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(target))


def _sparse(target: Path) -> None:
    with target.open("wb") as file:
        file.truncate(1 << 40)


_OF_FOLDERS: Final = tuple(
    map(
        _beside,
        (
            _pipe,
            _listening,
            _sparse,
            lambda target: target.mkdir(),
            lambda target: target.symlink_to("/etc/hostname"),
            lambda target: target.symlink_to(target),
            lambda target: target.symlink_to("/dev/zero"),
            lambda target: target.symlink_to(target.parent, target_is_directory=True),
            lambda target: target.touch(mode=0),
        ),
    )
)


# --- tars


def _add(tar: tarfile.TarFile, path: str, data: bytes, **more: object) -> None:
    info = tarfile.TarInfo(path)
    info.size = len(data)
    for key, value in more.items():
        setattr(info, key, value)
    try:
        tar.addfile(info, io.BytesIO(data))
    except ValueError:  # a name that the format cannot hold
        tar.addfile(tarfile.TarInfo("x"), io.BytesIO())


def _lying(size: int) -> Callable[[tarfile.TarFile], None]:
    """A member that says to be larger than what comes: `tar` writes what it has been told."""

    def add(tar: tarfile.TarFile) -> None:
        info = tarfile.TarInfo("b/cluster/pods.json")
        info.size = size
        assert tar.fileobj is not None
        tar.fileobj.write(info.tobuf(tarfile.GNU_FORMAT))
        tar.offset += 512

    return add


def _typed(kind: bytes, link: str = "") -> Callable[[tarfile.TarFile], None]:
    return lambda tar: _add(tar, "b/cluster/pods.json", b"", type=kind, linkname=link)


def _pax(**headers: str) -> Callable[[tarfile.TarFile], None]:
    return lambda tar: _add(tar, "b/cluster/pods.json", b"{}", pax_headers=headers)


_OF_TARS: Final[tuple[Callable[[tarfile.TarFile], None], ...]] = (
    *(_lying(size) for size in (1, 1 << 20, 1 << 33, 1 << 62, (1 << 63) - 1, -1)),
    _typed(tarfile.SYMTYPE, "/etc/passwd"),
    _typed(tarfile.LNKTYPE, "b/cluster/pods.json"),
    _typed(tarfile.CHRTYPE),
    _typed(tarfile.FIFOTYPE),
    _typed(tarfile.GNUTYPE_SPARSE),
    _typed(b"V"),
    _typed(b"\xff"),
    _pax(size="9999999999999"),
    _pax(path="../../x"),
    _pax(size="-1"),
    _pax(**{"GNU.sparse.map": "0,1,9999999999,1", "GNU.sparse.size": "99999999999", "GNU.sparse.name": "x"}),
    _pax(**{"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "x"}),
    lambda tar: _add(tar, "b/cluster/pods.json", b"\0" * _BOMB),
    lambda tar: _add(tar, "b/logs/a/b/c.log", b"\0" * _BOMB),
    lambda tar: _add(tar, "b/nodes/n/dmesg.txt", b"x" * (20 << 20)),
    lambda tar: _add(tar, "b/cluster/events.json", b'{"items":[' + b"{}," * 200_000 + b"{}]}"),
    lambda tar: _add(tar, "b/cluster/pods.json", b'{"items":[' + b"[" * 100_000),
    lambda tar: _add(tar, "b.tgz", gzip.compress(gzip.compress(b"\0" * (1 << 20)))),
)


# --- zips


def _zip_name(path: str, windows: bool) -> str:
    name = path.encode("utf-8", "replace").decode()  # a zip holds text
    return name.replace("/", "\\") if windows else name


def _zip_info(name: str, mode: int = 0o100644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr, info.compress_type = mode << 16, zipfile.ZIP_DEFLATED
    return info


def _lying_zip(archive: zipfile.ZipFile) -> None:
    info = _zip_info("b/cluster/pods.json")
    archive.writestr(info, b"{}" * 1000)
    info.file_size = 3


def _claiming(archive: zipfile.ZipFile) -> None:
    info = _zip_info("b/cluster/pods.json")
    archive.writestr(info, b"{}")
    info.file_size = info.compress_size = 1 << 62


def _odd_method(archive: zipfile.ZipFile) -> None:
    info = _zip_info("b/cluster/pods.json")
    archive.writestr(info, b"{}")
    info.compress_type = 99


_OF_ZIPS: Final[tuple[Callable[[zipfile.ZipFile], None], ...]] = (
    _lying_zip,
    _claiming,
    _odd_method,
    lambda archive: archive.writestr(_zip_info("b/cluster/pods.json", 0o120777), b"/etc/passwd"),
    lambda archive: archive.writestr(_zip_info("b/cluster/pods.json", 0o010777), b""),
    lambda archive: archive.writestr(_zip_info("b/cluster/pods.json"), b"\0" * _BOMB),
    lambda archive: archive.writestr(_zip_info("b/logs/a/b/c.log"), b"\0" * _BOMB),
    lambda archive: archive.writestr(_zip_info("../../x"), b"{}"),
    lambda archive: archive.writestr(_zip_info("/etc/passwd"), b"{}"),
    lambda archive: archive.mkdir("b/cluster/pods.json"),
)

OF_ONE: Final[tuple[Pack, ...]] = (as_file,)
OF_MANY: Final[tuple[Pack, ...]] = (as_folder, as_tar, as_tgz, as_zip)
