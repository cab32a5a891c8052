"""Step `cuda`: CUDA starts on every GPU and memory can be written and read.

Done through the driver root's own libcuda in a process of its own, since a driver may hang or crash. Where NVSwitch
needs a fabric, its state is asked of NVML first: CUDA would only say 802, `system not yet initialized`.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Final

from lockgate.agents.driver_ready import read_driver_ready
from lockgate.agents.validator.program import run
from lockgate.agents.validator.result import NotReadyError, Passed
from lockgate.agents.validator.settings import Settings
from lockgate.gpu.library import UnavailableError
from lockgate.gpu.nvml import Nvml
from lockgate.gpu.values import Fabric, Gpu
from lockgate.host.driver_root import DriverNotFoundError, find

TIMEOUT: Final = 120.0  # seconds; the first start of CUDA on eight GPUs without persistence takes tens
_COMPLETED: Final = 3
_FABRIC: Final = {1: "has not started", 2: "is in progress"}


async def check_cuda(settings: Settings) -> Passed:
    """Fabric, then CUDA. Raises NotReadyError."""
    root = _driver_root(settings)
    await asyncio.to_thread(check_fabric, root)
    library = _library(root)
    return Passed(message=await _probe(library))


def _driver_root(settings: Settings) -> Path:
    """Where the step `driver` found it, else where it is said to be."""
    told = read_driver_ready(settings.output / "driver-ready").get("DRIVER_ROOT_CTR_PATH", "")
    return Path(told) if told and Path(told).is_dir() else settings.driver_root_ctr


def check_fabric(root: Path) -> None:
    """Raise NotReadyError while a GPU has not joined the NVLink fabric that it belongs to."""
    nvml = Nvml(root)
    try:
        nvml.open()
        for gpu in nvml.snapshot().gpus:
            _check_gpu(gpu)
    except UnavailableError as error:
        raise NotReadyError(str(error)) from error
    finally:
        nvml.close()


def _check_gpu(gpu: Gpu) -> None:
    fabric = gpu.fabric
    if isinstance(fabric, Fabric) and fabric.state in _FABRIC:
        raise NotReadyError(
            f"GPU {gpu.index} ({gpu.uuid}): registration with the NVLink fabric {_FABRIC[fabric.state]}, so CUDA would "
            "fail with 802 (system not yet initialized): is nvidia-fabricmanager running, in the driver's release?"
        )
    if isinstance(fabric, Fabric) and fabric.state == _COMPLETED and fabric.status != 0:
        raise NotReadyError(
            f"GPU {gpu.index} ({gpu.uuid}): registration with the NVLink fabric failed ({fabric.status})"
        )


def _library(root: Path) -> Path:
    try:
        libraries = find(root).libraries
    except (DriverNotFoundError, OSError) as error:
        raise NotReadyError(str(error)) from error
    path = next((library.path for library in libraries if "libcuda.so.1" in library.names), None)
    if path is None:
        raise NotReadyError(f"the driver root {root} has no libcuda.so.1: its installation is incomplete")
    return root / path.lstrip("/")


async def _probe(library: Path) -> str:
    """Run `cuda_probe` and return its one line. Raises NotReadyError with what it said."""
    command = (sys.executable, "-m", "lockgate.agents.validator.cuda_probe", str(library))
    status, output = await run(command, os.environ, "CUDA", TIMEOUT)
    text = " ".join(output.split())
    if status:
        raise NotReadyError(text or f"the CUDA probe ended with status {status} and said nothing")
    return text
