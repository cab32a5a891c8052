"""Settings made to fit the node: where neither policy nor environment name a path, the node's distribution decides."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from lockgate.agents.toolkit.settings import Settings
from lockgate.host.distributions import STOCK, Place, find_place, serves

# The host's files for writing, where its root is mounted read-only: through the host's first process (hostPID).
HOST_OF_PROCESS_1: Final = Path("/proc/1/root")
_STOCK_DROP_IN: Final = f"{STOCK.drop_ins[0]}/99-nvidia.toml"


def _writable(path: Path) -> bool:
    return os.access(path, os.W_OK)


def fit(
    settings: Settings,
    *,
    serves: Callable[[Path], bool] = serves,
    through: Path = HOST_OF_PROCESS_1,
    writable: Callable[[Path], bool] = _writable,
) -> Settings:
    """Replace containerd's stock paths by those of the distribution that runs here; what somebody chose stays."""
    if settings.runtime != "containerd":
        return settings
    chosen = "" if settings.socket_host == STOCK.socket else settings.socket_host
    place = find_place(settings.host_root, socket=chosen, serves=serves)
    if place is None or place.distribution == STOCK.name:
        return settings
    root = settings.host_root if writable(settings.host_root) else through
    return _replaced(settings, place, root)


def _replaced(settings: Settings, place: Place, root: Path) -> Settings:
    if settings.config_host == STOCK.config:
        settings = replace(settings, config=root / place.config[1:], config_host=place.config, fixed=place.fixed)
    if settings.drop_in_host == _STOCK_DROP_IN:
        settings = replace(settings, drop_in=root / place.drop_in[1:], drop_in_host=place.drop_in)
    if settings.socket_host == STOCK.socket:
        settings = replace(settings, socket=root / place.socket[1:], socket_host=place.socket)
    return replace(settings, distribution=place.distribution, unit=place.unit)
