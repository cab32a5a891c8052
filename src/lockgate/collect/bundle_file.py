"""A bundle being written: files into a .tgz beside its final place, which takes that place when it is whole.

A bound on what goes in keeps a large cluster from filling a disk: what does not fit is left out, and the
manifest says so.
"""

import io
import os
import tarfile
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

import msgspec

from lockgate.collect.bundle_manifest import BundleManifest
from lockgate.collect.errors import InputError
from lockgate.kit.quantity import binary_size

MANIFEST = "manifest.json"


class BundleFile:
    """`with BundleFile(path, limit) as bundle: bundle.add(...)`; only `finish` puts the file into its place."""

    def __init__(self, path: Path, limit: int, moment: float) -> None:
        self._path, self._limit, self._moment = path, limit, int(moment)
        self._folder = path.name.removesuffix(".tgz").removesuffix(".tar.gz") or "bundle"
        self._temporary = path.with_name(f".{path.name}.{os.getpid()}")
        self.size = 0
        self.left_out: list[str] = []
        if path.exists():
            raise InputError(f"{path}: is there already; choose another name")

    def __enter__(self) -> Self:
        try:
            # What is inside is nobody else's business.
            raw = os.open(self._temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise InputError(f"{self._path}: cannot be written ({error.strerror or error})") from None
        self._file = os.fdopen(raw, "wb")
        self._tar = tarfile.open(fileobj=self._file, mode="w:gz")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._temporary.unlink(missing_ok=True)

    def add(self, inner: str, data: bytes) -> bool:
        """Put a file in; False where it would break the bound."""
        if self.size + len(data) > self._limit:
            self.left_out.append(f"{inner}: {binary_size(len(data))} more than the {binary_size(self._limit)} allowed")
            return False
        self._write(inner, data)
        return True

    def finish(self, manifest: BundleManifest) -> None:
        """Add the manifest, and put the bundle into its place."""
        self._write(MANIFEST, msgspec.json.format(msgspec.json.encode(manifest), indent=1))
        self._tar.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._temporary.rename(self._path)

    def _write(self, inner: str, data: bytes) -> None:
        info = tarfile.TarInfo(str(PurePosixPath(self._folder, inner)))
        info.size, info.mode, info.mtime = len(data), 0o600, self._moment
        self._tar.addfile(info, io.BytesIO(data))
        self.size += len(data)
