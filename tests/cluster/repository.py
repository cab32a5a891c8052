"""Running modules of this repository as processes, from any folder and in any namespace."""

import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def python_environment() -> dict[str, str]:
    """What a Python program of this repository needs in its environment to be found from anywhere."""
    return {"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'src'}", "PYTHONDONTWRITEBYTECODE": "1"}


def python_module(name: str) -> tuple[str, ...]:
    """The command that runs a module of this repository with this Python."""
    return (sys.executable, "-m", name)
