"""Compiles the libraries and programs of the simulated driver, once for each content of their sources.

A driver root as NVIDIA's driver container leaves it: usr/bin, usr/lib/x86_64-linux-gnu, and the empty folder
run/nvidia-persistenced where the simulator puts its socket.
"""

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from lockgate.lab.state import CUDA_VERSION, DRIVER_VERSION

SOURCES: Final = Path(__file__).parent
LIBRARY_FOLDER: Final = Path("usr/lib/x86_64-linux-gnu")
PROGRAM_FOLDER: Final = Path("usr/bin")
SOCKET: Final = Path("run/nvidia-persistenced/socket")

FLAGS: Final = ("-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror", "-std=c11", "-pthread")
# Thread-local variables by descriptor, as on other processors: else x86 needs glibc's loader by its name, and a
# container of musl (Alpine) cannot load the library.
_TLS: Final = ("-mtls-dialect=gnu2",) if platform.machine() == "x86_64" else ()


class MissingCompilerError(Exception):
    """There is no gcc here."""


class Product(NamedTuple):
    """One library or program: its name, its sources, and what the linker needs besides."""

    name: str
    sources: tuple[str, ...]
    link: tuple[str, ...]

    @property
    def library(self) -> bool:
        """Whether it is a shared library, named by its soname."""
        return ".so." in self.name


# What every library needs to ask the simulator.
_CLIENT: Final = ("line.c", "connection.c", "socket_place.c", "device_nodes.c")

PRODUCTS: Final = (
    Product(
        "libnvidia-ml.so.1",
        (
            *_CLIENT,
            "nvml_call.c",
            "nvml_system.c",
            "nvml_device.c",
            "nvml_power.c",
            "nvml_health.c",
            "nvml_links.c",
            "nvml_processes.c",
            "nvml_events.c",
            "nvml_mig.c",
        ),
        (),
    ),
    Product("libcuda.so.1", (*_CLIENT, "cuda.c", "cuda_memory.c", "cuda_kernel.c"), ()),
    Product("nvidia-smi", ("smi.c", "smi_table.c", "smi_query.c", "smi_fields.c", "smi_report.c"), ("-ldl",)),
    Product("cuda-vectoradd", ("cuda_vectoradd.c",), ("-ldl", "-lm")),
)


def build_driver_root(
    dest: Path, cache: Path, driver_version: str = DRIVER_VERSION, cuda_version: int = CUDA_VERSION
) -> None:
    """Lay out a driver root at `dest`, compiling what the cache does not hold. Safe to run twice, and by many at once.

    The libraries belong to `driver_version`: a simulator of another version answers them with a version mismatch.
    MissingCompilerError without gcc; subprocess.CalledProcessError with the compiler's words when a source is wrong.
    """
    built = _built(cache, driver_version, cuda_version)
    for folder in (LIBRARY_FOLDER, PROGRAM_FOLDER, SOCKET.parent):
        (dest / folder).mkdir(parents=True, exist_ok=True)
    for product in PRODUCTS:
        _install(built / product.name, dest, product, driver_version)


def _install(built: Path, dest: Path, product: Product, version: str) -> None:
    if not product.library:
        _copy(built, dest / PROGRAM_FOLDER / product.name)
        return
    folder = dest / LIBRARY_FOLDER
    stem = product.name.removesuffix(".1")
    _copy(built, folder / f"{stem}.{version}")
    for link, target in ((product.name, f"{stem}.{version}"), (stem, product.name)):
        _link(folder / link, target)


def _copy(source: Path, dest: Path) -> None:
    """A new file in the old one's place: programs that have the old one open keep it."""
    temporary = dest.with_name(f".{dest.name}.{os.getpid()}")
    shutil.copy2(source, temporary)
    temporary.replace(dest)


def _link(link: Path, target: str) -> None:
    temporary = link.with_name(f".{link.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(target)
    temporary.replace(link)


def _built(cache: Path, driver_version: str, cuda_version: int) -> Path:
    """The folder in the cache that holds all products, compiled now if need be."""
    folder = cache / f"driver-{_key(driver_version, cuda_version)}"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            _compile_into(folder, cache, driver_version, cuda_version)
        os.utime(folder)  # who tidies the cache sees that it is in use
    return folder


def _compile_into(folder: Path, cache: Path, driver_version: str, cuda_version: int) -> None:
    with tempfile.TemporaryDirectory(dir=cache, prefix=".building-") as temporary:
        for product in PRODUCTS:
            compile_product(product, Path(temporary) / product.name, driver_version, cuda_version)
        shutil.copytree(temporary, cache / f".done-{os.getpid()}")
    (cache / f".done-{os.getpid()}").rename(folder)


def _key(driver_version: str, cuda_version: int) -> str:
    digest = hashlib.sha256(f"{driver_version} {cuda_version} {FLAGS} {_TLS} {PRODUCTS}".encode())
    for source in sorted([*SOURCES.glob("*.c"), *SOURCES.glob("*.h")]):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()[:16]


def compile_product(
    product: Product,
    output: Path,
    driver_version: str = DRIVER_VERSION,
    cuda_version: int = CUDA_VERSION,
    extra: tuple[str, ...] = (),
) -> None:
    """Compile one product to `output`, warnings being errors."""
    gcc = shutil.which("gcc")
    if gcc is None:
        raise MissingCompilerError("the simulated driver is compiled with gcc, and there is none on PATH")
    shared = ("-shared", f"-Wl,-soname,{product.name}") if product.library else ()
    defines = (f'-DDRIVER_VERSION="{driver_version}"', f"-DCUDA_VERSION={cuda_version}")
    sources = [str(SOURCES / source) for source in product.sources]
    command = [gcc, *FLAGS, *_TLS, *defines, *extra, *shared, "-o", str(output), *sources, *product.link]
    subprocess.run(command, check=True, capture_output=True, text=True)
