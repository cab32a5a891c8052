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


def install(program: Path, root: Path) -> None:
    """Put the program into the folder, with what it needs to start there."""
    listed = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    needed = [Path(word) for word in listed.split() if word.startswith("/")]
    for source, inside in ((program, "ctk/nvidia-ctk"), *((path, str(path).lstrip("/")) for path in needed)):
        (root / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, root / inside)
    (root / "tmp").mkdir(exist_ok=True)


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
