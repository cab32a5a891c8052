"""NVIDIA's own `nvidia-ctk` 1.20.2, built once from its Go module, and run with a folder as its root.

It loads libnvidia-ml by the machine's own loader, which is therefore copied into the folder beside it.
"""

import os
import shutil
import subprocess
from pathlib import Path

import msgspec

from deploy.cache import cache_folder
from lockgate.cdi.spec import Spec
from tests.cluster.programs import golang
from tests.cluster.programs.build import locked, say_on_stderr
from tests.cluster.programs.table import GoPrograms

PROGRAM = GoPrograms(
    name="nvidia-ctk",
    module="nvidia-ctk",
    packages=("github.com/NVIDIA/nvidia-container-toolkit/cmd/nvidia-ctk",),
    outputs=("nvidia-ctk",),
    cgo=True,
    minutes=0.5,
)
HOOK = "/usr/bin/nvidia-cdi-hook"  # named in specifications; nobody runs it here


class CtkError(Exception):
    """nvidia-ctk ended with an error; the text is its own."""


def ready() -> Path:
    """The program, built first when the cache lacks it."""
    cache = cache_folder() / "programs"
    cache.mkdir(parents=True, exist_ok=True)
    with locked(cache / "lock", say_on_stderr):
        return golang.ensure(PROGRAM, cache, golang.version(), say_on_stderr) / "nvidia-ctk"


def install(program: Path, root: Path, name: str = "nvidia-ctk") -> str:
    """Put a program into the folder, with what it needs to start there; returns its path inside."""
    listed = subprocess.run(
        ["ldd", program], capture_output=True, text=True, check=False
    ).stdout  # fails for static ones
    needed = [Path(word) for word in listed.split() if word.startswith("/")]
    inside = f"ctk/{name}"
    for source, target in ((program, inside), *((path, str(path).lstrip("/")) for path in needed)):
        (root / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, root / target)
    (root / "tmp").mkdir(exist_ok=True)
    return f"/{inside}"


def run(root: Path, *words: str, environ: dict[str, str] | None = None) -> str:
    """What the installed program prints, with the folder as its root. Raises CtkError."""
    command = ["chroot", root, "/ctk/nvidia-ctk", *words]
    ran = subprocess.run(command, env=os.environ | (environ or {}), capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise CtkError(ran.stderr)
    return ran.stdout


def generate(root: Path, *words: str, environ: dict[str, str]) -> Spec:
    """The specification that `nvidia-ctk cdi generate` prints. Raises CtkError."""
    words = ("--format=json", f"--nvidia-cdi-hook-path={HOOK}", *words)
    return msgspec.json.decode(run(root, "cdi", "generate", *words, environ=environ), type=Spec)
