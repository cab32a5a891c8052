"""Make a recorded bundle fit for the repository: only what `why` reads, without identities of the machine it came from.

    python -m tests.bundles.redact RECORDED.tgz tests/bundles/NAME.tgz

Left out: the manifest, config maps (certificates), programs' own logs, all but the last lines of container logs,
managed fields, applied configurations, machine and boot identifiers. The same input gives the same archive.
"""

import gzip
import io
import json
import sys
import tarfile
from pathlib import Path
from typing import Any

from lockgate.collect.folder import is_wanted
from lockgate.collect.members import members

_DROPPED_KEYS = frozenset(("managedFields", "selfLink"))
_DROPPED_ANNOTATIONS = frozenset(("kubectl.kubernetes.io/last-applied-configuration",))
_IDENTITIES = frozenset(("machineID", "systemUUID", "bootID"))
_WITHOUT = (
    "manifest.json",
    "configmaps.",
    "kubelet.txt",
    "containerd.txt",
    "containerd-config-dump",
    "version",
    "modules",
)
_LOG_LINES = 30


def redact(source: Path, target: Path) -> None:
    """Write a bundle of `source` (archive or folder) to `target`."""
    kept = [(m.path, m.read()) for m in members(source, is_wanted) if _is_kept(m.path)]
    name = target.name.removesuffix(".tgz")
    with (
        target.open("wb") as raw,
        gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed,
        tarfile.open(fileobj=packed, mode="w") as tar,
    ):
        for path, data in sorted(kept):
            _add(tar, name, path, data)


def _is_kept(path: str) -> bool:
    """Of the operands' logs only the device plugin's and the validator's tell something."""
    told = "device-plugin" in path or "operator-validator" in path
    operand = "/logs/gpu-operator/" in f"/{path}" and not told
    return not operand and not path.rpartition("/")[2].startswith(_WITHOUT)


def _add(tar: tarfile.TarFile, name: str, path: str, data: bytes) -> None:
    inner = path[path.index(_area(path)) :]
    data = _clean(inner, data)
    info = tarfile.TarInfo(f"{name}/{inner}")
    info.size, info.mode = len(data), 0o644
    tar.addfile(info, io.BytesIO(data))


def _area(path: str) -> str:
    return next(f"{part}/" for part in path.split("/") if part in ("cluster", "logs", "nodes"))


def _clean(path: str, data: bytes) -> bytes:
    if path.startswith("cluster/") and path.endswith(".json"):
        return (json.dumps(_cleaned(json.loads(data)), indent=1, sort_keys=True) + "\n").encode()
    return b"".join(data.splitlines(keepends=True)[-_LOG_LINES:]) if path.startswith("logs/") else data


def _cleaned(value: Any) -> Any:
    if isinstance(value, list):
        return [_cleaned(v) for v in value]
    if not isinstance(value, dict):
        return value
    kept = {k: v for k, v in value.items() if k not in _DROPPED_KEYS and k not in _DROPPED_ANNOTATIONS}
    return {k: "redacted" if k in _IDENTITIES else _cleaned(v) for k, v in kept.items()}


if __name__ == "__main__":
    redact(Path(sys.argv[1]), Path(sys.argv[2]))
