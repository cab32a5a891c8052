"""Real loaders find the libraries where the specifications mount them: no cache, no link, no environment variable.

A container's file system holds nothing but the loader, a program that asks for a library by name, and the mounts.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from deploy.cache import cache_folder
from lockgate.cdi.build import Gpu, Place, gpu_spec
from lockgate.host.driver_root import find
from lockgate.lab.driver import build_driver_root

PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words)
{
    for (int i = 1; i < count; i++) {
        void *library = dlopen(words[i], RTLD_NOW);
        int found = library && (dlsym(library, "answer") || dlsym(library, "cuInit") || dlsym(library, "nvmlInit_v2"));
        printf("%s\\n", found ? "found" : dlerror());
    }
    return 0;
}
"""
GLIBC = "/lib64/ld-linux-x86-64.so.2"
MUSL = "/lib/ld-musl-x86_64.so.1"
NAMES = ("libcuda.so.1", "libcuda.so", "libnvidia-ml.so.1")
CHROOT = ("unshare", "--user", "--map-root-user", "--root")


@pytest.fixture
def driver_root(tmp_path: Path) -> Path:
    """Libraries that need no other, so that either libc can run them."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    root = tmp_path / "driver"
    (root / "usr/lib64").mkdir(parents=True)
    source = tmp_path / "answer.c"
    source.write_text("int answer(void) { return 42; }\n")
    for name in ("libcuda.so", "libnvidia-ml.so"):
        output = root / f"usr/lib64/{name}.580.95.05"
        flags = ["-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{name}.1"]
        subprocess.run(["gcc", *flags, "-o", output, source], check=True)
    return root


@pytest.fixture
def simulated_root(tmp_path: Path) -> Path:
    """The libraries of the simulated driver, which are linked as NVIDIA's are: with glibc."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    cache = cache_folder()
    build_driver_root(tmp_path / "simulated", cache)
    return tmp_path / "simulated"


def container(tmp_path: Path, driver_root: Path, compiler: str, loader: str) -> Path:
    """A file system with a program for this libc and what the specification brings."""
    if shutil.which(compiler) is None or not Path(loader).exists():
        pytest.skip(f"needs {compiler} and {loader}")
    root = tmp_path / "container"
    root.mkdir()
    (tmp_path / "program.c").write_text(PROGRAM)
    subprocess.run([compiler, "-o", root / "program", tmp_path / "program.c", "-ldl"], check=True)
    for library in (loader, *(_needed(root / "program") if loader == GLIBC else ())):
        target = root / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, target)
    gpu = Gpu(index="0", uuid="GPU-a", nodes=("/dev/nvidia0",))
    spec = gpu_spec(find(driver_root), [gpu], (), Place(driver_root=str(driver_root)))
    for mount in spec.container_edits.mounts:
        assert mount is not None
        target = root / mount.container_path.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(mount.host_path, target)
    return root


def _needed(program: Path) -> list[str]:
    """The libraries of this machine's libc that a program loads."""
    listed = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [word for word in listed.split() if word.startswith("/")]


def ask(root: Path) -> list[str]:
    if subprocess.run([*CHROOT[:-1], "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        pytest.skip("this machine allows no user namespaces")
    ran = subprocess.run([*CHROOT, root, "/program", *NAMES], stdout=subprocess.PIPE, text=True, check=True)
    return ran.stdout.split("\n")[:-1]


@pytest.mark.parametrize(("compiler", "loader"), [("gcc", GLIBC), ("musl-gcc", MUSL)], ids=["glibc", "musl"])
def test_the_loader_finds_every_library_by_every_name(
    tmp_path: Path, driver_root: Path, compiler: str, loader: str
) -> None:
    assert ask(container(tmp_path, driver_root, compiler, loader)) == ["found"] * len(NAMES)


@pytest.mark.parametrize(
    ("compiler", "loader", "folder"),
    [("gcc", GLIBC, "usr/lib/x86_64-linux-gnu"), ("gcc", GLIBC, "usr/lib"), ("musl-gcc", MUSL, "usr/lib")],
    ids=["glibc of Debian", "glibc, the plain folder", "musl"],
)
def test_which_folder_each_loader_needs(
    tmp_path: Path, driver_root: Path, compiler: str, loader: str, folder: str
) -> None:
    root = container(tmp_path, driver_root, compiler, loader)
    for other in {"usr/lib", "usr/lib64", "usr/lib/x86_64-linux-gnu"} - {folder}:
        for name in NAMES:
            (root / other / name).unlink()
    assert ask(root) == ["found"] * len(NAMES)


@pytest.mark.parametrize(("compiler", "loader"), [("gcc", GLIBC), ("musl-gcc", MUSL)], ids=["glibc", "musl"])
def test_a_container_of_either_libc_loads_the_simulated_driver(
    tmp_path: Path, simulated_root: Path, compiler: str, loader: str
) -> None:
    assert ask(container(tmp_path, simulated_root, compiler, loader)) == ["found"] * len(NAMES)
