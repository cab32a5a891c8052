"""The real containerd binaries of a truth run: Debian's packages and builds from Go modules, kept in the cache.

The programs of the test cluster are used where it has the release; the others are built here once (a minute each), each
from a `go.mod` of its own beside the cluster's.
"""

from collections.abc import Callable
from pathlib import Path

from deploy.cache import cache_folder
from tests.cluster.programs import debian, golang
from tests.cluster.programs.build import locked, say_on_stderr
from tests.cluster.programs.table import DEBIAN_PROGRAMS, GO_PROGRAMS, DebianPrograms, GoPrograms
from tests.truth.containerd.oracle import Binary


def _built(family: str, version: str) -> GoPrograms:
    module = "github.com/containerd/containerd" + ("" if family.startswith("1.") else "/v2")
    return GoPrograms(
        name=f"containerd-{family}",
        module=f"containerd-{family}",
        packages=(f"{module}/cmd/containerd",),
        outputs=("containerd",),
        ldflags=f"-s -w -X {module}/version.Version=v{version}",
        tags="no_btrfs no_devmapper no_zfs",
        minutes=1.1,
    )


DEBIAN = (
    DebianPrograms(
        name="containerd-1.6",
        suite="bookworm",
        packages=("containerd",),
        outputs=("usr/bin/containerd",),
        version="1.6.",
    ),
    *(row for row in DEBIAN_PROGRAMS if row.name.startswith("containerd-")),
)
BUILT = (
    _built("1.6", "1.6.36"),
    _built("2.0", "2.0.14"),
    _built("2.2", "2.2.1"),
    _built("2.3.4", "2.3.4"),
    _built("2.3", "2.3.7"),
    *(row for row in GO_PROGRAMS if row.name.startswith("containerd-")),
)


def ready(say: Callable[[str], None] = say_on_stderr, *, build: bool = True) -> list[Binary]:
    """Every binary, oldest release first; what the cache lacks is fetched and, with `build`, built."""
    cache = cache_folder() / "programs"
    cache.mkdir(parents=True, exist_ok=True)
    with locked(cache / "lock", say):
        found = [debian.ensure(row, cache, say) / "usr/bin/containerd" for row in DEBIAN]
        found += _from_source(cache, say, build)
    return sorted((Binary(path) for path in found), key=lambda binary: binary.release)


def _from_source(cache: Path, say: Callable[[str], None], build: bool) -> list[Path]:
    go_version = golang.version()
    rows = [row for row in BUILT if build or (cache / f"{row.name}-{golang.key(row, go_version)}").is_dir()]
    return [golang.ensure(row, cache, go_version, say) / "containerd" for row in rows]
