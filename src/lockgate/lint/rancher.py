"""Where K3s and RKE2 keep their containerd's files: they write the top-level one anew whenever they start.

From the documentation of both (see docs/decisions/0042-distributions.md): no binary of theirs can be run here.
"""

import re
from typing import Final

_TOP_LEVEL: Final = re.compile(r"(?P<etc>/var/lib/rancher/(?P<name>k3s|rke2)/agent/etc/containerd)/config\.toml")
_NAMES: Final = {"k3s": "K3s", "rke2": "RKE2"}


def generator(root: str) -> str:
    """Who writes a top-level file anew at each start; "" for one that is kept."""
    found = _TOP_LEVEL.fullmatch(root)
    return _NAMES[found["name"]] if found else ""


def templates(root: str) -> tuple[str, ...]:
    """The templates that a person may put beside a generated top-level file: for containerd 1.x, and from 2.0 on."""
    found = _TOP_LEVEL.fullmatch(root)
    return (f"{found['etc']}/config.toml.tmpl", f"{found['etc']}/config-v3.toml.tmpl") if found else ()


def own_folders(root: str) -> tuple[str, ...]:
    """The folders of drop-ins that a generated file imports by itself."""
    found = _TOP_LEVEL.fullmatch(root)
    return (f"{found['etc']}/config.toml.d", f"{found['etc']}/config-v3.toml.d") if found else ()
