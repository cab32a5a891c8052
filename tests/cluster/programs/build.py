"""Make every program of the table exist in the cache, each keyed by what it is made from, and say what is missing.

`ready()` is quick when all is there. Two runs at once wait for each other; a run that is killed leaves only a
folder called `*.partial`, which the next one replaces.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deploy.cache import cache_folder
from tests.cluster.programs import debian, golang
from tests.cluster.programs.missing import MissingProgramError
from tests.cluster.programs.table import CONTAINERD, DEBIAN_PROGRAMS, GO_PROGRAMS, SYSTEM_PROGRAMS, SystemProgram

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Programs:
    """Where the built programs lie: the folder of each row, by the row's name."""

    folders: dict[str, Path]

    def path(self, name: str) -> Path:
        """The file of a program: `kubelet`, `etcd`, `helm`, `containerd-2.1/usr/bin/ctr`."""
        row, _, rest = name.partition("/")
        if rest:
            return self.folders[row] / rest
        for folder in self.folders.values():
            if (folder / name).is_file():
                return folder / name
        raise KeyError(f'no program "{name}" in the table')

    def containerd(self, release: str) -> Path:
        """The folder with containerd, its shim and ctr of a release family, for example "1.7"."""
        if release not in CONTAINERD:
            raise ValueError(f'no containerd "{release}" in the table; there is {", ".join(CONTAINERD)}')
        row, _, rest = CONTAINERD[release].partition("/")
        return self.folders[row] / rest


def say_on_stderr(text: str) -> None:
    """The usual voice of a build: one line on stderr, at once."""
    print(text, file=sys.stderr, flush=True)


def ready(say: Say = say_on_stderr, cache: Path | None = None) -> Programs:
    """Build what the cache lacks and return where everything is.

    Raises MissingProgramError when the machine lacks root, Go or gcc, or a package cannot be installed.
    """
    cache = (cache or cache_folder()) / "programs"
    check_machine()
    install_missing(say)
    cache.mkdir(parents=True, exist_ok=True)
    with locked(cache / "lock", say):
        go_version = golang.version()
        folders = {row.name: golang.ensure(row, cache, go_version, say) for row in GO_PROGRAMS}
        folders |= {row.name: debian.ensure(row, cache, say) for row in DEBIAN_PROGRAMS}
    return Programs(folders)


def check_machine(which: Callable[[str], str | None] = shutil.which, euid: Callable[[], int] = os.geteuid) -> None:
    """Refuse a machine on which the cluster can never run, naming everything that is missing at once."""
    lacks = []
    if euid() != 0:
        lacks.append("root: the cluster makes namespaces, mounts and cgroups (run it with sudo)")
    if which("go") is None:
        lacks.append("Go 1.26 or newer (`go`): Kubernetes is built from source once")
    if which("gcc") is None:
        lacks.append("gcc: the pause program and the simulated driver are C")
    if which("apt-get") is None:
        lacks.append("apt-get: containerd 1.7 and 2.1 come as Debian packages")
    if lacks:
        raise MissingProgramError("the real cluster cannot run on this machine, it lacks:\n  " + "\n  ".join(lacks))


def install_missing(say: Say) -> None:
    """Install the Debian packages of the programs that the machine must have itself."""
    missing = [row for row in SYSTEM_PROGRAMS if not is_installed(row)]
    if not missing:
        return
    packages = sorted({row.package for row in missing})
    say(f"installing {', '.join(packages)} with apt-get")
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    if subprocess.run(install, env=environment, capture_output=True).returncode != 0:
        subprocess.run(["apt-get", "update"], env=environment, capture_output=True)
        done = subprocess.run(install, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise MissingProgramError(f"apt-get could not install {', '.join(packages)}:\n{done.stderr.strip()}")


def is_installed(row: SystemProgram) -> bool:
    """Whether the command can be found, also in the folders of root's programs."""
    return shutil.which(row.command, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin") is not None


@contextmanager
def locked(path: Path, say: Say) -> Iterator[None]:
    """Hold the build lock; says so when another run has it."""
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another run is building the programs, waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
