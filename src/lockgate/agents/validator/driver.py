"""Step `driver`: a driver is installed and answers, on the host itself or in a driver container's root.

As NVIDIA's validator: the host's own nvidia-smi goes first; else the one of the driver root, with its libnvidia-ml
preloaded since this image has none. What is found is told to the other operands in `driver-ready`.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from lockgate.agents.validator.dev_char import link_devices
from lockgate.agents.validator.program import run
from lockgate.agents.validator.result import NotReadyError, Passed
from lockgate.agents.validator.settings import Settings
from lockgate.host.device_nodes import find_nodes
from lockgate.host.driver_contents import BINARY_DIRECTORIES
from lockgate.host.driver_root import DriverNotFoundError, find
from lockgate.host.rooted import Root
from lockgate.kube.api import Api
from lockgate.kube.errors import ApiError, Unreachable
from lockgate.kube.resources import DAEMONSETS
from lockgate.model.node_state import DriverState

CONTAINER_READY: Final = ".driver-ctr-ready"  # written by the driver container when its modules are loaded
DRIVER_ROOT_CTR: Final = "/driver-root"  # where the operands mount a driver container's root
HOST_CTR: Final = "/host"
_DRIVER_PODS: Final = "app.kubernetes.io/component=nvidia-driver"
_VERSION: Final = re.compile(r"(?<!CUDA )(?:Driver Version|KMD Version): *([0-9][0-9.]*)")
_CUDA: Final = re.compile(r"CUDA (?:UMD )?Version: *([0-9][0-9.]*)")


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A driver that answered: its root and that of its devices, on the host and in the operands."""

    host_driver: bool
    root: str
    root_ctr: str
    dev_root: str
    dev_root_ctr: str
    seen: Path  # the driver root as this container sees it
    output: str

    @property
    def variables(self) -> str:
        """The content of `driver-ready`."""
        pairs = {
            "IS_HOST_DRIVER": "true" if self.host_driver else "false",
            "NVIDIA_DRIVER_ROOT": self.root,
            "DRIVER_ROOT_CTR_PATH": self.root_ctr,
            "NVIDIA_DEV_ROOT": self.dev_root,
            "DEV_ROOT_CTR_PATH": self.dev_root_ctr,
        }
        return "".join(f"{name}={value}\n" for name, value in pairs.items())


async def check_driver(settings: Settings) -> Passed:
    """Run nvidia-smi. Raises NotReadyError."""
    found = await _find(settings)
    state = _state(found)
    linked = _link(settings, found)
    kind = "the host's own" if found.host_driver else f"in {found.root}"
    return Passed(
        message=f"driver {state.version or 'of unknown version'} answers ({kind}){linked}",
        content=found.variables,
        driver=state,
    )


async def _find(settings: Settings) -> Found:
    binary = _host_binary(settings.host)
    if binary:
        output = await _output(("chroot", str(settings.host), binary), os.environ, f"nvidia-smi of the host ({binary})")
        return Found(
            host_driver=True, root="/", root_ctr=HOST_CTR, dev_root="/", dev_root_ctr=HOST_CTR, seen=settings.host,
            output=output,
        )  # fmt: skip
    if await _container_starts(settings):
        raise NotReadyError(
            f"the driver container of this node has not loaded the driver yet ({settings.output / CONTAINER_READY})"
        )
    return await _find_in_container(settings)


def _host_binary(host: Path) -> str | None:
    folders = (*BINARY_DIRECTORIES[:4], "/opt/bin")
    root = Root(host)
    return next((path for folder in folders if (path := root.find(folder, "nvidia-smi"))), None)


async def _container_starts(settings: Settings) -> bool:
    """Whether a driver DaemonSet exists whose container here is not ready. Unknown counts as no: nvidia-smi decides."""
    if (settings.output / CONTAINER_READY).exists() or not settings.namespace:
        return False
    try:
        async with Api.connect() as api:
            return bool(await api.list(DAEMONSETS, settings.namespace, label_selector=_DRIVER_PODS))
    except (ApiError, Unreachable):
        return False


async def _find_in_container(settings: Settings) -> Found:
    seen = settings.driver_root_ctr
    try:
        files = find(seen)
    except (DriverNotFoundError, OSError) as error:
        raise NotReadyError(
            f"no driver on this node: no nvidia-smi on the host, and no driver root: {error}"
        ) from error
    binary = next((file.path for file in files.binaries if file.container_path.endswith("/nvidia-smi")), None)
    library = next((one.path for one in files.libraries if "libnvidia-ml.so.1" in one.names), None)
    if binary is None or library is None:
        missing = "nvidia-smi" if binary is None else "libnvidia-ml.so.1"
        raise NotReadyError(f"the driver root {settings.driver_root} has no {missing}: its installation is incomplete")
    environ = {**os.environ, "LD_PRELOAD": f"{seen}{library}"}
    output = await _output((f"{seen}{binary}",), environ, f"nvidia-smi of the driver root {settings.driver_root}")
    own_devices = (seen / "dev/nvidiactl").exists()
    return Found(
        host_driver=False,
        root=settings.driver_root,
        root_ctr=DRIVER_ROOT_CTR,
        dev_root=settings.driver_root if own_devices else "/",
        dev_root_ctr=DRIVER_ROOT_CTR if own_devices else HOST_CTR,
        seen=seen,
        output=output,
    )


async def _output(command: tuple[str, ...], environ: Mapping[str, str], what: str) -> str:
    """The output of a program. Raises NotReadyError with its words when it fails or hangs."""
    status, text = await run(command, environ, what)
    if status:
        said = " ".join(text.split()) or "it said nothing"
        raise NotReadyError(f"{what} failed with status {status}: {said[:500]}")
    return text


def _state(found: Found) -> DriverState:
    version, cuda = _VERSION.search(found.output), _CUDA.search(found.output)
    return DriverState(
        version=version[1] if version else _file_version(found.seen),
        cuda_version=cuda[1] if cuda else "",
        root=found.root,
        host_driver=found.host_driver,
    )


def _file_version(root: Path) -> str:
    try:
        return find(root).version
    except (DriverNotFoundError, OSError):
        return ""


def _link(settings: Settings, found: Found) -> str:
    """Make the links in /dev/char that systemd needs; says so when that failed, which only some nodes mind."""
    if settings.skip_dev_char or not settings.dev_char.is_dir():
        return ""
    dev = settings.host / "dev" if found.dev_root == "/" else found.seen / "dev"
    target = "/" if found.dev_root == "/" else found.dev_root
    try:
        link_devices(settings.dev_char, dev, target, find_nodes(dev))
    except OSError as error:
        return f"; links in /dev/char were not made: {error}"
    return ""
