"""The containerd and CDI files of one node as values, whatever they were read from, and what else the node has."""

import datetime as dt
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from lockgate.collect.members import read_file
from lockgate.containerd.imports import File
from lockgate.host.rooted import Root

TOP_LEVELS: Final = (
    "/etc/containerd/config.toml",
    "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
    "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
    "/etc/k0s/containerd.toml",
    "/var/snap/microk8s/current/args/containerd.toml",
)
CDI_DIRECTORIES: Final = ("/etc/cdi", "/var/run/cdi", "/run/cdi")
VERSION_FILES: Final = ("containerd-version.txt", "containerd-version")
OUTPUT_FILES: Final = ("containerd-started.txt", "containerd-files.txt")
TEXT_LIMIT: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeTree:
    """Files by their path on the node. `root` is the top-level configuration, "" when there is none.

    `places` tells where each lies on this machine ("" part of an archive), `writable` which of them a person named;
    `host` is the folder that stands for the node's `/`, where there is one; `version` what `containerd --version` said.
    `outputs` are the texts of OUTPUT_FILES that lie beside; on the node itself `started` is since when its containerd
    runs, and `modified` when its files were written.
    """

    files: Mapping[str, File]
    root: str = ""
    places: Mapping[str, str] = field(default_factory=dict)
    writable: frozenset[str] = frozenset()
    host: Path | None = None
    version: str = ""
    outputs: Mapping[str, str] = field(default_factory=dict)
    started: dt.datetime | None = None
    modified: Mapping[str, dt.datetime] = field(default_factory=dict)


def presence(tree: NodeTree, asked: Iterable[str]) -> dict[str, bool]:
    """Whether the node has some paths; those about which the tree cannot tell are left out.

    A tree tells about `/usr/...` when it has a `/usr`: a copy of `/etc` alone says nothing about programs.
    """
    if tree.host is None:
        return {}
    root = Root(tree.host)
    known = {area: _is_real(root, area) for area in {path.split("/")[1] for path in asked if path.startswith("/")}}
    return {p: root.resolve(p) is not None for p in asked if p.startswith("/") and known[p.split("/")[1]]}


def _is_real(root: Root, area: str) -> bool:
    """A `/dev` without `/dev/null` is no node's."""
    return root.resolve("/dev/null") is not None if area == "dev" else any(root.names(f"/{area}"))


def version_in(*folders: Path) -> str:
    """What `containerd --version` printed, from the first of some folders that has it in a file; "" where none has."""
    for folder in folders:
        for name in VERSION_FILES:
            file = folder / name
            if file.is_file():
                return read_file(file, TEXT_LIMIT).decode("utf-8", "replace")
    return ""


def outputs_in(*folders: Path) -> dict[str, str]:
    """The outputs of commands that lie in the first of some folders that has any."""
    for folder in folders:
        found = {name: folder / name for name in OUTPUT_FILES if (folder / name).is_file()}
        if found:
            return {name: read_file(file, TEXT_LIMIT).decode("utf-8", "replace") for name, file in found.items()}
    return {}
