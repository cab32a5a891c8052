"""Where the validator found the driver: shell variables in `/run/nvidia/validations/driver-ready`."""

import shlex
from pathlib import Path
from typing import Final

from lockgate.model.names import VALIDATIONS

PATH: Final = Path(VALIDATIONS) / "driver-ready"
NAMES: Final = ("NVIDIA_DRIVER_ROOT", "DRIVER_ROOT_CTR_PATH", "NVIDIA_DEV_ROOT", "DEV_ROOT_CTR_PATH")


def read_driver_ready(path: Path = PATH) -> dict[str, str]:
    """The variables that the file sets, for use below the process's own environment; empty without the file."""
    try:
        text = path.read_text()
    except OSError:
        return {}
    pairs = (line.removeprefix("export ").partition("=") for line in text.splitlines())
    return {name.strip(): _unquote(value) for name, _, value in pairs if name.strip() in NAMES}


def _unquote(value: str) -> str:
    try:
        return "".join(shlex.split(value))
    except ValueError:
        return value.strip()
