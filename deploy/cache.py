"""Where built things are kept between runs: images, programs of the test cluster, compiled drivers."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/lockgate`, usually `~/.cache/lockgate`; it need not exist yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lockgate"
