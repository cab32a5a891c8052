"""Recorded archives as the folders that they hold."""

import tarfile
from pathlib import Path
from typing import Any

# Debian's Python 3.11.2 has no filters yet; 3.12 and 3.13 warn where none is named.
_SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def unpack(archive: Path, folder: Path) -> None:
    """Everything that one of our own archives holds, below a folder."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, **_SAFELY)
