"""The NVIDIA device nodes of a node, as the runtime would name them in a container."""

import stat
from collections.abc import Iterable, Iterator
from pathlib import Path


def find_nodes(dev: Path) -> tuple[str, ...]:
    """The paths (`/dev/nvidia0`, `/dev/nvidia-caps/nvidia-cap1`) of every NVIDIA character device below a /dev."""
    return tuple(sorted(_find(dev)))


def existing(dev: Path, nodes: Iterable[str]) -> tuple[str, ...]:
    """Those of these device nodes that this /dev has."""
    return tuple(node for node in nodes if (dev / node.removeprefix("/dev/")).is_char_device())


def _find(dev: Path) -> Iterator[str]:
    for pattern in ("nvidia*", "nvidia-caps/nvidia-cap*", "nvidia-caps-imex-channels/channel*"):
        for entry in dev.glob(pattern):
            if stat.S_ISCHR(entry.lstat().st_mode):
                yield f"/dev/{entry.relative_to(dev)}"
