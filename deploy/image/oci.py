"""Container images without a registry: an OCI image layout in one tar, which `ctr image import` reads.

Layers, one configuration, one manifest, one index. The same input gives the same bytes, so that a digest can be
compared between builds. Source: opencontainers/image-spec v1.1 (image-layout.md, manifest.md, config.md) and
containerd's annotation `io.containerd.image.name`.
"""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

EPOCH = "1970-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageConfig:
    """What a container made from the image starts with."""

    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    working_dir: str = "/"
    user: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    architecture: str = "amd64"


def pack_layer(root: Path, layer: Path) -> None:
    """Write the files below `root` to the tar `layer`: sorted, owned by root, without times, modes kept."""
    with tarfile.open(layer, "w", format=tarfile.PAX_FORMAT) as tar:
        for path in sorted(_below(root)):
            tar.add(path, arcname=str(path.relative_to(root)), recursive=False, filter=_plain)


def _below(root: Path) -> list[Path]:
    return [
        Path(folder) / name for folder, folders, files in os.walk(root) for name in (*folders, *files)
    ]  # os.walk does not follow links to folders, but lists them


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    if not (member.isfile() or member.isdir() or member.issym() or member.islnk()):
        return None  # sockets and device nodes have no place in an image
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    return member


def write_image(image: Path, *, name: str, layers: Sequence[Path], config: ImageConfig) -> str:
    """Write the image tar and return its manifest's digest (`sha256:...`).

    `name` is a whole reference with a tag, for example `docker.io/lockgate/pause:1`. Layers (tars, lowest first) are
    stored as they are, uncompressed: an import on a test machine is bound by CPU, not by the disk.
    """
    digests = {layer: _digest_of(layer) for layer in layers}
    settings = _json(_config(config, list(digests.values())))
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": _descriptor("application/vnd.oci.image.config.v1+json", _digest(settings), len(settings)),
            "layers": [
                _descriptor("application/vnd.oci.image.layer.v1.tar", digest, layer.stat().st_size)
                for layer, digest in digests.items()
            ],
        }
    )
    partial = image.with_name(image.name + ".partial")
    with tarfile.open(partial, "w", format=tarfile.PAX_FORMAT) as tar:
        _add(tar, "oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
        _add(tar, "index.json", _json(_index(name, manifest)))
        for blob in (settings, manifest):
            _add(tar, _blob(_digest(blob)), blob)
        for layer, digest in digests.items():
            with layer.open("rb") as file:
                tar.addfile(_member(_blob(digest), layer.stat().st_size), file)
    partial.rename(image)
    return _digest(manifest)


def _config(config: ImageConfig, layer_digests: list[str]) -> dict[str, object]:
    started = {
        "Entrypoint": list(config.entrypoint) or None,
        "Cmd": list(config.command) or None,
        "Env": [f"{name}={value}" for name, value in sorted(config.environment.items())],
        "WorkingDir": config.working_dir,
        "User": config.user,
        "Labels": config.labels or None,
    }
    return {
        "created": EPOCH,
        "architecture": config.architecture,
        "os": "linux",
        "config": {name: value for name, value in started.items() if value},
        "rootfs": {"type": "layers", "diff_ids": layer_digests},
        "history": [{"created": EPOCH, "created_by": "lockgate"}],
    }


def _index(name: str, manifest: bytes) -> dict[str, object]:
    descriptor = _descriptor("application/vnd.oci.image.manifest.v1+json", _digest(manifest), len(manifest))
    annotations = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]}
    return {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [descriptor | {"annotations": annotations}],
    }


def _descriptor(media_type: str, digest: str, size: int) -> dict[str, object]:
    return {"mediaType": media_type, "digest": digest, "size": size}


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


def _blob(digest: str) -> str:
    return "blobs/" + digest.replace(":", "/")


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size = size
    member.mode = 0o644
    return member


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    tar.addfile(_member(name, len(data)), io.BytesIO(data))
