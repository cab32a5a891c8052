"""Programs from Go modules: built with the pinned `go.mod` and `go.sum`, kept under a key of all that shapes them."""

import hashlib
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from deploy.cache import kept
from tests.cluster.programs.table import GoPrograms

_HERE = Path(__file__).parent


def version() -> str:
    """What `go version` says: part of the key, since another compiler makes another program."""
    return subprocess.run(["go", "version"], check=True, capture_output=True, text=True).stdout.strip()


def key(row: GoPrograms, go_version: str, modules: Path = _HERE) -> str:
    """Twelve hexadecimal digits that change when the pinned modules, the flags or the compiler do."""
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum", "tools.go"):
        digest.update((modules / row.module / name).read_bytes())
    digest.update(repr((row.packages, row.outputs, row.ldflags, row.tags, go_version)).encode())
    digest.update(b"cgo" if row.cgo else b"")
    return digest.hexdigest()[:12]


def ensure(row: GoPrograms, cache: Path, go_version: str, say: Callable[[str], None]) -> Path:
    """The folder with the row's programs, built first when it is not there."""

    def make(folder: Path) -> None:
        say(f"building {', '.join(row.outputs)} (about {row.minutes:g} min on 2 cores the first time)")
        started = time.monotonic()
        folder.mkdir()
        _build(row, folder, say)
        say(f"built {row.name} in {time.monotonic() - started:.0f} s")

    return kept(cache / f"{row.name}-{key(row, go_version)}", make)


def _build(row: GoPrograms, out: Path, say: Callable[[str], None]) -> None:
    target = out / row.outputs[0] if len(row.packages) == 1 else out
    command = ["go", "build", "-mod=readonly", "-trimpath", "-tags", row.tags, "-ldflags", row.ldflags]
    command += ["-o", f"{target}{os.sep if target is out else ''}", *row.packages]
    # Without cgo: static programs run in every node and image, and share one compiled standard library.
    environment = os.environ | {"CGO_ENABLED": str(int(row.cgo)), "GOFLAGS": "", "GOWORK": "off"}
    log = out / "build.log"
    with log.open("w") as output:
        build = subprocess.Popen(command, cwd=_HERE / row.module, env=environment, stdout=output, stderr=output)
        _wait(build, row.name, say)
    if build.returncode != 0:
        raise RuntimeError(f"go build of {row.name} failed:\n{log.read_text()[-3000:]}")


def _wait(build: subprocess.Popen[bytes], name: str, say: Callable[[str], None]) -> None:
    started = time.monotonic()
    try:
        while build.poll() is None:
            try:
                build.wait(timeout=30)
            except subprocess.TimeoutExpired:
                say(f"  still building {name}, {time.monotonic() - started:.0f} s")
    finally:
        if build.poll() is None:
            build.terminate()
            build.wait()
