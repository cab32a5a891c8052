"""What `collect --probe` runs in its pod: reads the node's files below a folder, redacted, and prints them as text.

    python3 -m lockgate.collect.probe /host

It opens files for reading only, and runs the node's own `containerd` for its version and its configuration. The members
are those of a folder that a person fills by hand: `etc/containerd/config.toml`, `containerd-version.txt`, `dmesg.txt`.
What it prints is a packed archive in base64 between two marks, since a pod's log is text; secrets are taken out before.
"""

import base64
import ctypes
import gzip
import hashlib
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import msgspec

from lockgate.collect.decode import lenient_text
from lockgate.collect.errors import InputError
from lockgate.collect.folder import NODE_PATHS
from lockgate.collect.redaction import Redactor
from lockgate.host.rooted import Root

BEGIN: Final = "lockgate-probe begin"
END: Final = "lockgate-probe end"
# Of /proc only this: a walk through it would never end, and every process of the node is in it.
_PROC: Final = ("proc/version", "proc/modules", "proc/devices", "proc/driver/nvidia")
_SKIPPED: Final = ("etc/containerd/certs.d",)  # credentials and certificates of registries
# Where a link of a configuration may lead: not to what the node keeps from its users.
_LINKED: Final = ("run/", "usr/", "opt/", "nix/", "var/snap/", "var/lib/rancher/")
_CONTAINERD: Final = (
    "/usr/bin/containerd",
    "/usr/local/bin/containerd",
    "/var/lib/rancher/k3s/data/current/bin/containerd",
    "/var/lib/rancher/rke2/bin/containerd",
)
_TELLING: Final = re.compile(
    r"NVRM|Xid|nvidia|nouveau|nvswitch|fabric|pcie|\bAER\b|iommu|secure ?boot|lockdown|module|oom|out of memory|mce:",
    re.IGNORECASE,
)
_MOST_FILE: Final = 256 * 1024
_MOST_ALL: Final = 4 * 1024 * 1024  # well below the 10 MiB after which the kubelet begins a new log
_MOST_LINES: Final = 2000
_COLUMNS: Final = 4096


def main() -> int:
    """Read, redact, print; returns the exit code."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "/host")
    redactor = Redactor(word="redacted-on-node")
    found = {path: redactor.text(text) for path, text in _bounded(_everything(root))}
    sys.stdout.write(dump(found))
    return 0


# --- what is read


def _everything(root: Path) -> Iterator[tuple[str, str]]:
    yield from _outputs(root)
    for path in (*(p for p in NODE_PATHS if p != "proc/"), *_PROC):
        yield from _below(Root(root), path.rstrip("/"))


def _bounded(texts: Iterator[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    left = _MOST_ALL
    for path, text in texts:
        left -= len(text)
        if left < 0:
            return
        yield path, text


def _below(root: Root, path: str) -> Iterator[tuple[str, str]]:
    """A file, or every file below a folder; links lead where they would on the node, never out of it."""
    real = root.resolve(f"/{path}")
    if real is None or path.startswith(_SKIPPED) or not _may_be_read(real.lstrip("/")):
        return
    place = root.outside(real)
    mode = place.lstat().st_mode
    if stat.S_ISDIR(mode):
        for name in root.names(real):
            yield from _below(root, f"{path}/{name}")
    elif stat.S_ISREG(mode) and (text := _text(place)) is not None:
        yield path, text


def _may_be_read(real: str) -> bool:
    return f"{real}/".startswith((*NODE_PATHS, *_LINKED))


def _text(place: Path) -> str | None:
    try:
        with place.open("rb") as file:
            data = file.read(_MOST_FILE + 1)
    except OSError:
        return None
    return lenient_text(data) if len(data) <= _MOST_FILE else None


def _outputs(root: Path) -> Iterator[tuple[str, str]]:
    program = next((p for p in _CONTAINERD if Root(root).resolve(p)), None)
    asked = {"containerd-version.txt": ("--version",), "containerd-config-dump.toml": ("config", "dump")}
    for name, arguments in asked.items():
        if program and (said := _in_root(root, program, *arguments)):
            yield name, said
    if log := _kernel_log():
        yield "dmesg.txt", log


def _in_root(root: Path, *command: str) -> str:
    """What a program of the node prints; "" where it fails."""
    try:
        done = subprocess.run(
            command, preexec_fn=lambda: os.chroot(root), cwd="/", capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return lenient_text(done.stdout) if done.returncode == 0 else ""


def _kernel_log() -> str:
    """The kernel's messages about devices and modules; "" where the pod may not read them."""
    libc = ctypes.CDLL(None, use_errno=True)
    size = libc.klogctl(10, None, 0)  # SYSLOG_ACTION_SIZE_BUFFER
    if size <= 0:
        return ""
    buffer = ctypes.create_string_buffer(size)
    length = libc.klogctl(3, buffer, size)  # SYSLOG_ACTION_READ_ALL
    lines = lenient_text(buffer.raw[: max(length, 0)]).splitlines()
    return "".join(f"{line}\n" for line in [line for line in lines if _TELLING.search(line)][-_MOST_LINES:])


# --- how it is handed over


def dump(found: Mapping[str, str]) -> str:
    """Members as text that survives a log."""
    packed = base64.b64encode(gzip.compress(msgspec.json.encode(found))).decode()
    lines = [packed[i : i + _COLUMNS] for i in range(0, len(packed), _COLUMNS)]
    return "\n".join((BEGIN, *lines, f"{END} {_digest(packed)}")) + "\n"


def load(name: str, log: str) -> dict[str, str]:
    """The members of a log; raises InputError where it is not whole."""
    _, _, rest = log.partition(f"{BEGIN}\n")
    body, _, tail = rest.partition(f"{END} ")
    packed = "".join(body.split())
    if not tail or tail.split("\n")[0].strip() != _digest(packed):
        said = log.strip().splitlines()
        raise InputError(f"{name}: what the probe printed is not whole ({said[-1][:200] if said else 'nothing'})")
    try:
        return msgspec.json.decode(gzip.decompress(base64.b64decode(packed)), type=dict[str, str])
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{name}: what the probe printed cannot be read ({error})") from None


def _digest(packed: str) -> str:
    return hashlib.sha256(packed.encode()).hexdigest()


if __name__ == "__main__":
    raise SystemExit(main())
