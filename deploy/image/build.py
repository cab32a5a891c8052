"""Builds the one image, `lockgate`, from Debian packages and wheels: `python -m deploy.image.build -o FILE`.

No registry and no container engine takes part: mmdebstrap makes the base, pip fills the Python path, and `oci` writes
an OCI archive that `ctr images import` and `skopeo copy oci-archive:` read. Three layers: the base and the locked
dependencies, kept in the user's cache under a name made of their content, and our own code, which is small. Needs root
(mmdebstrap unpacks owners).
"""

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

from deploy.cache import cache_folder, kept
from deploy.image import oci

ROOT = Path(__file__).resolve().parents[2]
LOCK = Path(__file__).with_name("requirements.lock")
SITE = "usr/local/lib/python3.11/dist-packages"  # Debian's python3 looks here by itself
NAME = "docker.io/lockgate/lockgate"

SUITE = "bookworm"
PACKAGES = ("python3", "ca-certificates", "libstdc++6")  # libstdc++: grpc
LEFT_OUT = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/i18n/*", "/usr/share/info/*")
# usrmerge brings all of perl, and has done its work once the base stands.
PURGED = (
    "usrmerge",
    "libfile-find-rule-perl",
    "libnumber-compare-perl",
    "libtext-glob-perl",
    "perl",
    "perl-modules-5.36",
    "libperl5.36",
    "libgdbm-compat4",
)

# Executable -> module: NVIDIA's names start our agents, so that either image runs under the same manifest.
EXECUTABLES = {
    "nvidia-device-plugin": "lockgate.agents.device_plugin",
    "gpu-feature-discovery": "lockgate.agents.features",
    "nvidia-validator": "lockgate.agents.validator",
    "nvidia-toolkit": "lockgate.agents.toolkit",
    "nvidia-ctk-installer": "lockgate.agents.toolkit",
    "lockgate-discovery": "lockgate.agents.discovery",
    "lockgate-operator": "lockgate.controllers",
    "lockgate": "lockgate.cli.main",
    "kubectl-gpu": "lockgate.cli.main",
}

_SCRIPT = """\
#!/usr/bin/python3 -P
from runpy import run_module

run_module("{module}", None, "__main__", True)
"""

ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "PYTHONUNBUFFERED": "1",
    "LANG": "C.UTF-8",
}


def build(output: Path, tag: str, cache: Path, wheel: Path | None = None) -> None:
    """Write the image to `output` (an OCI archive); `wheel` defaults to one built from this checkout."""
    missing = [tool for tool in ("mmdebstrap", "chroot") if shutil.which(tool) is None]
    if os.geteuid() != 0 or missing:
        need = f"install {', '.join(missing)} first" if missing else "run it as root"
        raise SystemExit(f"building the image needs root, mmdebstrap and chroot: {need}")
    base = _cached(cache, "base", _recipe(), _make_base)
    libraries = _cached(cache, "libraries", _recipe() + LOCK.read_bytes(), lambda to: _make_libraries(base, to))
    with tempfile.TemporaryDirectory(prefix="lockgate-image-") as scratch:
        own = Path(scratch) / "own.tar"
        _make_own(base, libraries, wheel or _build_wheel(Path(scratch)), own)
        config = oci.ImageConfig(environment=ENVIRONMENT, command=("lockgate", "--help"))
        oci.write_image(output, name=f"{NAME}:{tag}", layers=[base, libraries, own], config=config)


def _recipe() -> bytes:
    return repr((SUITE, PACKAGES, LEFT_OUT, PURGED, SITE)).encode()


def _cached(cache: Path, name: str, key: bytes, make: Callable[[Path], None]) -> Path:
    """The file made from `key`, made now unless it was made before."""

    def told(to: Path) -> None:
        print(f"image: making {name} (once)", file=sys.stderr)
        make(to)

    return kept(cache / f"image-{name}-{hashlib.sha256(key).hexdigest()[:16]}.tar", told)


def _make_base(to: Path) -> None:
    purge = f'chroot "$1" dpkg --purge --force-depends {" ".join(PURGED)}'
    tidy = 'rm -rf "$1"/var/cache/* "$1"/var/lib/apt/* "$1"/var/log/* "$1"/usr/share/perl'
    _run(
        "mmdebstrap",
        "--quiet",
        "--variant=essential",
        f"--include={','.join(PACKAGES)}",
        *(f"--dpkgopt=path-exclude={path}" for path in LEFT_OUT),
        f"--customize-hook={purge}",
        f"--customize-hook={tidy}",
        "--format=tar",
        SUITE,
        str(to),
    )


def _make_libraries(base: Path, to: Path) -> None:
    with _unpacked(base) as root:
        _pip("--require-hashes", "--only-binary", ":all:", "-r", str(LOCK), target=root.path / SITE)
        shutil.rmtree(root.path / SITE / "bin", ignore_errors=True)
        _compile(root.path)
        _pack(root.path, [SITE], to)


def _make_own(base: Path, libraries: Path, wheel: Path, to: Path) -> None:
    with _unpacked(base, libraries) as root:
        before = {entry.name for entry in (root.path / SITE).iterdir()}
        _pip("--no-deps", str(wheel), target=root.path / SITE)
        shutil.rmtree(root.path / SITE / "bin", ignore_errors=True)
        own = [entry.name for entry in (root.path / SITE).iterdir() if entry.name not in before]
        for name, module in EXECUTABLES.items():
            script = root.path / "usr/local/bin" / name
            script.write_text(_SCRIPT.format(module=module))
            script.chmod(0o755)
        _compile(root.path, "lockgate")
        _pack(root.path, [f"{SITE}/{name}" for name in own] + [f"usr/local/bin/{name}" for name in EXECUTABLES], to)


class _unpacked:  # noqa: N801 - reads as a statement: `with _unpacked(base) as root`
    """Layers unpacked into a folder that is removed at the end."""

    def __init__(self, *layers: Path) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="lockgate-image-"))
        self._layers = layers

    def __enter__(self) -> "_unpacked":
        for layer in self._layers:
            _run("tar", "-C", str(self.path), "--numeric-owner", "-xf", str(layer))
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def _pip(*arguments: str, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    versions = ["--python-version", "3.11", "--only-binary", ":all:"]
    _run(*install, *versions, "--target", str(target), "--root-user-action=ignore", *arguments)


def _compile(root: Path, package: str = "") -> None:
    """Byte code beside every module, made by the image's own Python: without it each start compiles again."""
    where = f"/{SITE}/{package}".rstrip("/")
    _run("chroot", str(root), "python3", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", where)


def _pack(root: Path, members: list[str], to: Path) -> None:
    with tarfile.open(to, "w") as archive:
        for member in sorted(members):
            archive.add(root / member, member, filter=_root_owned)


def _root_owned(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    return entry


def _build_wheel(scratch: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check"]
    _run(*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", str(scratch), str(ROOT))
    return next(scratch.glob("lockgate-*.whl"))


def _run(*command: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, env=environment, text=True, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise SystemExit(f"image: {' '.join(command[:3])} ... ended with {done.returncode}:\n{done.stderr[-2000:]}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the lockgate image as an OCI archive (needs root).")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--tag", default="0.1.0")
    parser.add_argument("--wheel", type=Path, help="a built wheel; by default this checkout is built")
    parser.add_argument("--cache", type=Path, default=cache_folder())
    options = parser.parse_args()
    build(options.output, options.tag, options.cache, options.wheel)
    print(f"{options.output}: {NAME}:{options.tag}, {options.output.stat().st_size // 2**20} MiB")


if __name__ == "__main__":
    main()
