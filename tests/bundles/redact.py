"""Make a recorded bundle fit for the repository: only what `why` reads, without identities of the machine it came from.

    python -m tests.bundles.redact RECORDED.tgz tests/bundles/NAME.tgz

Left out: config maps (certificates), managed fields, applied configurations, machine and boot identifiers. The archive
is the same for the same input.
"""

import gzip
import io
import json
import sys
import tarfile
from pathlib import Path
from typing import Any

from lockgate.collect.folder import is_wanted
from lockgate.collect.members import Member, members

_DROPPED_KEYS = frozenset(("managedFields", "selfLink"))
_DROPPED_ANNOTATIONS = frozenset(("kubectl.kubernetes.io/last-applied-configuration",))
_IDENTITIES = frozenset(("machineID", "systemUUID", "bootID"))
_WITHOUT = ("configmaps.", "controllerrevisions.")


def redact(source: Path, target: Path) -> None:
    """Write a bundle of `source` (archive or folder) to `target`."""
    kept = [m for m in members(source, is_wanted) if not m.path.rpartition("/")[2].startswith(_WITHOUT)]
    name = target.name.removesuffix(".tgz")
    with target.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="") as packed:
        with tarfile.open(fileobj=packed, mode="w") as tar:
            for member in sorted(kept, key=lambda m: m.path):
                _add(tar, name, member)


def _add(tar: tarfile.TarFile, name: str, member: Member) -> None:
    inner = member.path[member.path.index(_area(member.path)) :]
    data = _clean_json(member.data) if inner.endswith(".json") and inner.startswith("cluster/") else member.data
    info = tarfile.TarInfo(f"{name}/{inner}")
    info.size, info.mode = len(data), 0o644
    tar.addfile(info, io.BytesIO(data))


def _area(path: str) -> str:
    return next(f"{part}/" for part in path.split("/") if part in ("cluster", "logs", "nodes"))


def _clean_json(data: bytes) -> bytes:
    return (json.dumps(_clean(json.loads(data)), indent=1, sort_keys=True) + "\n").encode()


def _clean(value: Any) -> Any:
    if isinstance(value, list):
        return [_clean(v) for v in value]
    if not isinstance(value, dict):
        return value
    kept = {k: v for k, v in value.items() if k not in _DROPPED_KEYS and k not in _DROPPED_ANNOTATIONS}
    return {k: "redacted" if k in _IDENTITIES else _clean(v) for k, v in kept.items()}


if __name__ == "__main__":
    redact(Path(sys.argv[1]), Path(sys.argv[2]))
