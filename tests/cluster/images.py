"""The two small images every test cluster has: the pod's pause program, and one to run commands in.

Both are written without a registry and kept in the user's cache under a key of what they are made from.
"""

import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from deploy.cache import kept, prune
from deploy.image import oci
from lockgate.lab.driver import build_driver_root
from tests.cluster.programs import Programs

PAUSE = "docker.io/lockgate/pause:1"
# Debian's C library, busybox (a shell, sleep, wget, httpd) and the CUDA test program; glibc programs run in it.
TEST = "docker.io/lockgate/test:1"

_PAUSE_SOURCE = Path(__file__).with_name("pause.c")
_KEPT = ("usr/bin", "usr/sbin", "usr/lib/x86_64-linux-gnu", "usr/lib64")


def build_pause_image(cache: Path) -> Path:
    """The image tar of the pause program, compiled first when the cache lacks it."""

    def fill(root: Path) -> oci.ImageConfig:
        flags = ("-Wall", "-Wextra", "-Werror", "-Os", "-static", "-s")
        subprocess.run(["gcc", *flags, "-o", str(root / "pause"), str(_PAUSE_SOURCE)], check=True)
        return oci.ImageConfig(entrypoint=("/pause",), user="65535:65535")

    return cached(cache, PAUSE, _PAUSE_SOURCE.read_bytes(), fill)


def build_test_image(cache: Path, programs: Programs) -> Path:
    """The image tar of the test image, put together first when the cache lacks it."""
    folder = programs.folders["test-image"]
    # The CUDA program comes in the image, as an application does; the driver's libraries come by CDI.
    with tempfile.TemporaryDirectory() as scratch:
        build_driver_root(Path(scratch), cache / "driver")
        prune(cache / "driver")
        cuda_program = (Path(scratch) / "usr/bin/cuda-vectoradd").read_bytes()

    def fill(root: Path) -> oci.ImageConfig:
        for name in ("bin", "sbin", "lib", "lib64"):
            (root / name).symlink_to(f"usr/{name}")
        for name in _KEPT:
            if (folder / name).is_dir():
                shutil.copytree(folder / name, root / name, symlinks=True, dirs_exist_ok=True)
        for name in ("etc", "dev", "proc", "sys", "run", "tmp", "root", "usr/sbin", "usr/lib"):
            (root / name).mkdir(parents=True, exist_ok=True)
        (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n")
        (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
        (root / "usr/bin/cuda-vectoradd").write_bytes(cuda_program)
        (root / "usr/bin/cuda-vectoradd").chmod(0o755)
        _link_applets(root)
        return oci.ImageConfig(command=("sh",), environment={"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"})

    return cached(cache, TEST, f"1 {folder.name} {_KEPT}".encode() + cuda_program, fill)


def _link_applets(root: Path) -> None:
    busybox = root / "usr/bin/busybox"
    listed = subprocess.run([busybox, "--list"], check=True, capture_output=True, text=True).stdout
    for name in listed.split():
        link = root / "usr/bin" / name
        if not link.exists():
            link.symlink_to("busybox")


def cached(cache: Path, name: str, made_from: bytes, fill: Callable[[Path], oci.ImageConfig]) -> Path:
    """The image tar for `made_from`; `fill` puts its files into an empty folder and says how it starts."""
    key = hashlib.sha256(made_from + Path(oci.__file__).read_bytes()).hexdigest()[:12]
    short = name.rpartition("/")[2].replace(":", "-")

    def make(image: Path) -> None:
        with tempfile.TemporaryDirectory(dir=image.parent, prefix=".making-") as scratch:
            root, layer = Path(scratch) / "root", Path(scratch) / "layer.tar"
            root.mkdir(mode=0o755)
            config = fill(root)
            oci.pack_layer(root, layer)
            oci.write_image(image, name=name, layers=[layer], config=config)

    return kept(cache / "images" / f"{short}-{key}.tar", make)
