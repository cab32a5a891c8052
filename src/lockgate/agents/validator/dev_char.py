"""Links in `/dev/char` for NVIDIA's device nodes.

systemd looks devices up there by number when it renews a container's device rules; without the links a
`systemctl daemon-reload` takes the GPUs of running containers away (nvidia-container-toolkit#48).
"""

import os
from collections.abc import Iterable
from pathlib import Path


def link_devices(folder: Path, dev: Path, dev_root: str, nodes: Iterable[str]) -> tuple[str, ...]:
    """Make `<major>:<minor>` in `folder` (the host's /dev/char) point at each node; returns the names made.

    `dev` is the /dev that holds the nodes, as seen from here; `dev_root` the root above it, on the host. Right links
    stay; wrong ones are replaced; what is no link is left alone.
    """
    made = []
    for node in nodes:
        number = os.lstat(dev / node.removeprefix("/dev/")).st_rdev
        name, target = f"{os.major(number)}:{os.minor(number)}", dev_root.rstrip("/") + node
        link = folder / name
        if link.is_symlink() and str(link.readlink()) == target:
            continue
        if link.is_symlink():
            link.unlink()
        elif link.exists():
            continue
        link.symlink_to(target)
        made.append(name)
    return tuple(made)
