"""Two images that hold a C library, its loader, one program that looks for the driver's libraries, and nothing else."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from deploy.image import oci
from tests.cluster.images import cached
from tests.cluster.programs import Programs

PROGRAM: Final = "/libraries"
_SOURCE: Final = Path(__file__).with_name("libraries.c")
_WARNINGS: Final = ("-Wall", "-Wextra", "-Werror", "-Os")


class Libc(NamedTuple):
    """A C library: the row of its packages, the files of it that a program needs, how to link one with it."""

    row: str
    files: tuple[str, ...]
    compiler: Callable[[Path], tuple[str, ...]]


def _gcc(folder: Path) -> tuple[str, ...]:
    return ("gcc", *_WARNINGS, str(_SOURCE), "-ldl")


def _musl(folder: Path) -> tuple[str, ...]:
    """As `musl-gcc` does it, with the packages where they were unpacked."""
    lib, include = folder / "usr/lib/x86_64-linux-musl", folder / "usr/include/x86_64-linux-musl"
    crt = [str(lib / name) for name in ("crt1.o", "crti.o", "crtn.o")]
    flags = (
        "-nostdinc",
        "-isystem",
        str(include),
        "-nostdlib",
        "-no-pie",
        "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1",
    )
    return ("gcc", *_WARNINGS, *flags, *crt[:2], str(_SOURCE), f"-L{lib}", "-lc", "-lgcc", crt[2])


LIBCS: Final = {
    "glibc": Libc(
        row="test-image",
        files=("lib64/ld-linux-x86-64.so.2", "lib/x86_64-linux-gnu/libc.so.6", "lib/x86_64-linux-gnu/libdl.so.2"),
        compiler=_gcc,
    ),
    "musl": Libc(row="musl", files=("lib/ld-musl-x86_64.so.1",), compiler=_musl),
}


def image_name(libc: str) -> str:
    """What a pod calls the image."""
    return f"docker.io/lockgate/{libc}:1"


def build_libc_image(cache: Path, programs: Programs, libc: str) -> Path:
    """The image tar for "glibc" or "musl", put together first when the cache lacks it."""
    which = LIBCS[libc]
    folder = programs.folders[which.row]

    def fill(root: Path) -> oci.ImageConfig:
        for name in which.files:
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((folder / name).resolve().read_bytes())
            target.chmod(0o755)
        subprocess.run([*which.compiler(folder), "-o", str(root / PROGRAM.lstrip("/"))], check=True)
        return oci.ImageConfig(entrypoint=(PROGRAM,))

    made_from = _SOURCE.read_bytes() + f"{folder.name} {which.files} {which.compiler(folder)}".encode()
    return cached(cache, image_name(libc), made_from, fill)
