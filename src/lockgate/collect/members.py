"""The files of a folder, a tar (also gzipped) or a zip, one after the other, without unpacking to disk.

Paths that leave the archive and anything over a bound are refused. Links, devices, pipes and what may not be opened are
no members: whoever asks is told of them (`left_members.py`) and says whether the rest is an answer.
"""

import codecs
import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Final

from lockgate.collect.bounds import MAX_ARCHIVE, MAX_FILE, MAX_MEMBERS, MIB, Bounded, too_large
from lockgate.collect.errors import InputError
from lockgate.collect.left_members import LeaveOut, link_to, refusing

_UTF16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
Wanted = Callable[[str], bool]
# How a file begins that other programs have to unpack: their names, and the commands.
_COMPRESSED: Final = {
    b"\x28\xb5\x2f\xfd": ("zstd", "zstd -d"),
    b"\xfd7zXZ\0": ("xz", "xz -dk"),
    b"BZh": ("bzip2", "bzip2 -dk"),
    b"7z\xbc\xaf\x27\x1c": ("7-Zip", "7z x"),
    b"Rar!\x1a\x07": ("RAR", "unrar x"),
    b"\x04\x22\x4d\x18": ("lz4", "lz4 -dk"),
}
_LONGEST_TARGET: Final = 200
_NO_FILE: Final = "is no regular file"
# What is wrong with a file whose bytes do not come.
_FILE: Final = "cannot be read to its end"
_GZIP: Final = "is no complete gzip file; it may have been cut off on its way"
_TAR: Final = "is no complete tar archive; it may have been cut off on its way"
_ZIP: Final = "is no complete zip archive; it may have been cut off on its way"


class _NoFileError(InputError):
    """A pipe, a socket, a device or a folder."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file: its path in the folder, with forward slashes, its size, its content until the next is asked for.

    Reading raises InputError where the content is broken.
    """

    path: str
    size: int
    stream: io.BufferedReader

    def read(self, limit: int = MAX_FILE) -> bytes:
        """All of it, where that is not more than a bound."""
        if self.size > limit:
            raise too_large(self.path, self.size, limit)
        return self.stream.read(min(limit, self.size + MIB))  # it may grow meanwhile, and files of /proc tell no size

    def tail(self, size: int) -> bytes:
        """Its last bytes."""
        last = b""
        while piece := self.stream.read(max(size, MIB)):
            last = (last + piece)[-size:]
        return last


def members(root: Path, wanted: Wanted, leave_out: LeaveOut | None = None) -> Iterator[Member]:
    """Every wanted file of a folder or archive; raises InputError for what is neither, or breaks a bound.

    `leave_out` is told of what would be wanted and is no file to be read; without it that is refused.
    """
    total = 0
    for member in _members(root, wanted, leave_out or refusing(root)):
        total += member.size
        if total > MAX_ARCHIVE:
            raise too_large(str(root), total, MAX_ARCHIVE)
        yield member


def is_archive(head: bytes) -> bool:
    """Whether a file that begins so is a tar, a gzip or a zip."""
    return head[:2] == b"\x1f\x8b" or head[:4] in (b"PK\x03\x04", b"PK\x05\x06") or head[257:262] == b"ustar"


@contextmanager
def packed_alone(root: Path) -> Iterator[io.BufferedReader | None]:
    """The content of a gzip file that holds one text, and no tar; None for anything else."""
    with open_file(root) as raw:
        plain = _clear(root, _GZIP, Bounded(gzip.GzipFile(fileobj=raw), str(root)))
        try:
            start = plain.peek(512)[:512]
        except InputError:
            start = b""
        yield plain if start and (b"\0" not in start or start.startswith(_UTF16)) else None


def _members(root: Path, wanted: Wanted, leave_out: LeaveOut) -> Iterator[Member]:
    if root.is_dir():
        return _in_folder(root, wanted, leave_out)
    head = read_head(root)
    if head[:2] == b"PK":
        return _in_zip(root, wanted, leave_out)
    return _in_tar(root, wanted, leave_out, gzipped=head[:2] == b"\x1f\x8b")


def _may_hold(path: str, wanted: Wanted) -> bool:
    """Whether a link at a path would be wanted, or may stand for a folder of what is."""
    return wanted(path) or "." not in path.rpartition("/")[2]


# --- folders


def _in_folder(root: Path, wanted: Wanted, leave_out: LeaveOut) -> Iterator[Member]:
    count = 0

    def unopened(error: OSError) -> None:
        path = Path(error.filename)
        if path == root:
            raise InputError(f"{root}: {_refusal(error)}")
        leave_out(_relative(path, root), _refusal(error))

    for folder, folders, files in os.walk(root, onerror=unopened):
        folders.sort()  # one after the other: of a whole disk the first hundred thousand files tell that it is none
        linked = [name for name in folders if _is_link(Path(folder, name))]
        for name in sorted((*files, *linked)):
            path = Path(folder, name)
            relative = _relative(path, root)
            count += 1
            if count > MAX_MEMBERS:
                raise InputError(f"{root}: holds more than {MAX_MEMBERS} files; give the folder of one bundle")
            if _is_link(path):
                if _may_hold(relative, wanted):
                    leave_out(relative, link_to(_as_text(path.readlink())))
            elif wanted(relative):
                yield from _of_folder(path, relative, leave_out)


def _of_folder(path: Path, relative: str, leave_out: LeaveOut) -> Iterator[Member]:
    try:
        _size_of_regular(path)
        file = path.open("rb")
    except OSError as error:
        leave_out(relative, _refusal(error))
        return
    except _NoFileError:
        leave_out(relative, _NO_FILE)
        return
    with file:
        yield Member(relative, os.fstat(file.fileno()).st_size, _clear(path, _FILE, file))


def _is_link(path: Path) -> bool:
    return os.path.islink(path)  # noqa: PTH114 - unlike pathlib's it does not raise in a folder that cannot be entered


def _relative(path: Path, root: Path) -> str:
    return _as_text(path.relative_to(root))


def _refusal(error: OSError) -> str:
    return f"cannot be read ({error.strerror or error})"


def open_file(path: Path) -> io.BufferedReader:
    """A regular file, open for reading."""
    with _readable(path):
        _size_of_regular(path)
        return path.open("rb")


def read_head(path: Path) -> bytes:
    """The first bytes of a regular file; raises InputError for what is compressed in a way that is not read here."""
    _size_of_regular(path)
    with path.open("rb") as file:
        head = file.read(512)
    for magic, (name, command) in _COMPRESSED.items():
        if head.startswith(magic):
            raise InputError(f"{path}: is compressed by {name}, which is not read here; unpack it: {command} {path}")
    return head


def read_file(path: Path, limit: int = MAX_FILE) -> bytes:
    """The whole of a regular file that is within the bound."""
    with _readable(path):
        if (size := _size_of_regular(path)) > limit:
            raise too_large(str(path), size, limit)
        with path.open("rb") as file:
            return file.read(limit)


def _size_of_regular(path: Path) -> int:
    """Its size; a pipe or device is refused before it is opened, since it may never answer."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        raise _NoFileError(f"{path}: {_NO_FILE}")
    return about.st_size


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """What the system refuses becomes a complaint about the file."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: {_refusal(error)}") from None


@contextmanager
def _complete(root: Path, trouble: str) -> Iterator[None]:
    """The same for what has a format of its own, and is broken: `trouble` says what that is."""
    with _readable(root):
        try:
            yield
        except InputError:
            raise
        except _BROKEN as error:
            raise InputError(f"{root}: {trouble} ({_plain(error)})") from None


class _Clear(io.RawIOBase):
    """A stream whose failures are complaints, whoever reads it."""

    def __init__(self, root: Path, trouble: str, inner: IO[bytes] | Bounded) -> None:
        super().__init__()
        self._root, self._trouble, self._inner = root, trouble, inner

    def readable(self) -> bool:  # type: ignore[explicit-override]
        """Always."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[explicit-override, override]
        """As a file's."""
        with _complete(self._root, self._trouble):
            data = self._inner.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _clear(root: Path, trouble: str, inner: IO[bytes] | Bounded) -> io.BufferedReader:
    return io.BufferedReader(_Clear(root, trouble, inner))


# --- archives

# Broken headers end in whatever their fields are taken for.
_BROKEN = (
    *(tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile),
    *(ValueError, OverflowError, NotImplementedError, RuntimeError),
)


def _in_tar(root: Path, wanted: Wanted, leave_out: LeaveOut, *, gzipped: bool) -> Iterator[Member]:
    with _complete(root, _TAR), root.open("rb") as raw:
        plain = gzip.GzipFile(fileobj=raw) if gzipped else raw
        with tarfile.open(fileobj=Bounded(plain, str(root)), mode="r|") as tar:
            yield from _tar_members(root, tar, wanted, leave_out)


def _tar_members(root: Path, tar: tarfile.TarFile, wanted: Wanted, leave_out: LeaveOut) -> Iterator[Member]:
    for count, info in enumerate(tar):
        if count >= MAX_MEMBERS:
            raise InputError(f"{root}: holds more than {MAX_MEMBERS} files")
        path = _inside(root, info.name)
        if info.isdir():
            continue
        _check_size(root, path, info.size)
        if info.issym() or info.islnk():
            if _may_hold(path, wanted):
                leave_out(path, link_to(_as_text(PurePosixPath(info.linkname))))
        elif not wanted(path):
            continue
        elif not info.isreg():
            leave_out(path, _NO_FILE)
        elif (file := tar.extractfile(info)) is not None:
            yield Member(path, info.size, _clear(root, _TAR, file))


def _in_zip(root: Path, wanted: Wanted, leave_out: LeaveOut) -> Iterator[Member]:
    if root.stat().st_size > MAX_ARCHIVE:
        raise too_large(str(root), root.stat().st_size, MAX_ARCHIVE)
    with _complete(root, _ZIP), zipfile.ZipFile(root) as archive:
        yield from _zip_members(root, archive, wanted, leave_out)


def _zip_members(root: Path, archive: zipfile.ZipFile, wanted: Wanted, leave_out: LeaveOut) -> Iterator[Member]:
    infos = archive.infolist()
    if len(infos) > MAX_MEMBERS:
        raise InputError(f"{root}: holds more than {MAX_MEMBERS} files")
    for info in infos:
        path = _inside(root, info.filename)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if info.is_dir():
            continue
        _check_size(root, path, info.file_size)
        if kind == stat.S_IFLNK:
            if _may_hold(path, wanted):
                leave_out(path, link_to(_target(archive, info)))
        elif wanted(path):
            if info.flag_bits & 1:
                raise InputError(f"{root}: {path} is encrypted")
            with archive.open(info) as file:  # of one whose size is a lie it hands out no more than that
                yield Member(path, info.file_size, _clear(root, _ZIP, file))


def _target(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> str:
    """Where a link in a zip leads: its content says so."""
    with archive.open(info) as file:
        return file.read(_LONGEST_TARGET).decode("utf-8", "replace")


def _inside(root: Path, name: str) -> str:
    """A member's path, refused when it is absolute or leaves the archive."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\0" in name:
        raise InputError(f"{root}: {name!r} leaves the archive; such paths are refused")
    return _as_text(path)


def _as_text(path: PurePath) -> str:
    """With forward slashes; bytes of a name that are no UTF-8 are marked."""
    return path.as_posix().encode("utf-8", "replace").decode()


def _check_size(root: Path, path: str, size: int) -> None:
    if size > MAX_ARCHIVE:
        raise too_large(f"{root}: {path}", size, MAX_ARCHIVE)


def _plain(error: BaseException) -> str:
    return str(error) or type(error).__name__
