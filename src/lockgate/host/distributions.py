"""Where a Kubernetes distribution keeps its containerd, chosen by looking at the node.

The table holds what cannot be looked up: paths, sockets, units. What differs between releases of a distribution (which
folder of drop-ins its file imports, whether it does) is read from the file itself. Sources and what could not be
verified: docs/decisions/0042-distributions.md.
"""

import socket
import tomllib
from collections.abc import Callable
from pathlib import Path
from posixpath import dirname
from typing import Any, Final

import msgspec

from lockgate.host.rooted import Root

_UNITS: Final = ("etc/systemd/system", "usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system")


class Distribution(msgspec.Struct, frozen=True, kw_only=True):
    """Paths on the host. `templates` and `drop_ins` are by containerd's generation: before 2.0, and from it on.

    With templates, `config` is written anew whenever the distribution starts. `managed` is what the first line of a
    `config` says that the distribution keeps as long as nobody removes it.
    """

    name: str
    config: str
    socket: str
    units: tuple[str, ...]
    drop_ins: tuple[str, str]
    templates: tuple[str, str] | None = None
    managed: str = ""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One node's containerd: `fixed` says why its top-level file cannot be edited, with what to do instead."""

    distribution: str
    config: str
    drop_in: str
    socket: str
    unit: str
    fixed: str = ""


def _rancher(name: str, folder: str, units: tuple[str, ...]) -> Distribution:
    etc = f"/var/lib/rancher/{folder}/agent/etc/containerd"
    return Distribution(
        name=name,
        config=f"{etc}/config.toml",
        socket="/run/k3s/containerd/containerd.sock",
        units=units,
        drop_ins=(f"{etc}/config.toml.d", f"{etc}/config-v3.toml.d"),
        templates=(f"{etc}/config.toml.tmpl", f"{etc}/config-v3.toml.tmpl"),
    )


STOCK: Final = Distribution(
    name="containerd",
    config="/etc/containerd/config.toml",
    socket="/run/containerd/containerd.sock",
    units=("containerd.service",),
    drop_ins=("/etc/containerd/conf.d", "/etc/containerd/conf.d"),
)
# In the order of looking: a machine with one of the first may have a stock containerd besides, of Docker for example.
DISTRIBUTIONS: Final = (
    _rancher("K3s", "k3s", ("k3s-agent.service", "k3s.service")),
    _rancher("RKE2", "rke2", ("rke2-agent.service", "rke2-server.service")),
    Distribution(
        name="k0s",
        config="/etc/k0s/containerd.toml",
        socket="/run/k0s/containerd.sock",
        units=("k0sworker.service", "k0scontroller.service"),
        drop_ins=("/etc/k0s/containerd.d", "/etc/k0s/containerd.d"),
        managed="k0s_managed=true",
    ),
    Distribution(
        name="MicroK8s",
        # A template that is TOML itself; only words in ${} are filled in when the snap starts containerd.
        config="/var/snap/microk8s/current/args/containerd-template.toml",
        socket="/var/snap/microk8s/common/run/containerd.sock",
        units=("snap.microk8s.daemon-containerd.service",),
        drop_ins=("/etc/containerd/conf.d", "/etc/containerd/conf.d"),
    ),
    STOCK,
)


def serves(path: Path) -> bool:
    """Whether somebody listens on a unix socket: its file alone may be left from a distribution that is gone."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2.0)
        try:
            client.connect(str(path))
        except OSError:
            return False
        return True


CRIO_SOCKET: Final = "/run/crio/crio.sock"
DOCKER_SOCKET: Final = "/run/docker.sock"
# Who serves one of these is the kubelet's runtime; a node of Docker has a containerd too, but no kubelet on it.
_OTHER_RUNTIMES: Final = {"crio": CRIO_SOCKET, "docker": "/run/cri-dockerd.sock"}


def find_runtime(host: Path, *, serves: Callable[[Path], bool] = serves) -> str:
    """The container runtime of the node's kubelet: crio, docker, or containerd where neither is served."""
    return next((name for name, path in _OTHER_RUNTIMES.items() if serves(host / path[1:])), "containerd")


def find_place(host: Path, *, socket: str = "", serves: Callable[[Path], bool] = serves) -> Place | None:
    """The containerd of the distribution that runs here; `socket` is the one that a person named, "" for none.

    None when no socket of the table is served, or a person's socket is of no distribution.
    """
    root = Root(host)
    here = [one for one in DISTRIBUTIONS if socket in ("", one.socket) and root.resolve(one.config)]
    found = next((one for one in here if socket or serves(host / one.socket[1:])), None)
    if found is None:
        return None
    # K3s and RKE2 have one socket; the one that runs has written its file last.
    same = [one for one in here if one.socket == found.socket]
    return _place(root, max(same, key=lambda one: _written(root, one.config)))


def _written(root: Root, path: str) -> float:
    return root.outside(root.resolve(path) or path).stat().st_mtime


def _place(root: Root, one: Distribution) -> Place:
    text = _text(root, one.config)
    document = _document(text)
    drop_ins = one.drop_ins[_generation(document)]
    imported = _imported_folder(document, one)
    return Place(
        distribution=one.name,
        config=one.config,
        drop_in=f"{imported or drop_ins}/99-nvidia.toml",
        socket=one.socket,
        unit=next((unit for unit in one.units if any(root.resolve(f"/{f}/{unit}") for f in _UNITS)), one.units[0]),
        fixed=_fixed(one, text, document),
    )


def _fixed(one: Distribution, text: str, document: dict[str, Any]) -> str:
    line = f'imports = ["{one.drop_ins[_generation(document)]}/*.toml"]'
    if one.templates:
        return (
            f"{one.config} is written by {one.name} whenever it starts, and does not import the drop-in's folder: put "
            f"`{line}` as the first line into {one.templates[_generation(document)]} (where there is none, with "
            f'`{{{{ template "base" . }}}}` below it) and restart {one.name}'
        )
    if one.managed and one.managed in text.partition("\n")[0]:
        return (
            f"{one.config} is kept by {one.name} and does not import the drop-in's folder: remove its first line "
            f"(`# {one.managed}`), add `{line}` at the top and restart {one.name}"
        )
    return ""


def _imported_folder(document: dict[str, Any], one: Distribution) -> str:
    """The distribution's folder of drop-ins that its file imports already."""
    imports = document.get("imports")
    entries = [entry for entry in imports if isinstance(entry, str)] if isinstance(imports, list) else []
    folders = [dirname(entry) for entry in entries if entry.endswith("/*.toml")]
    return next((folder for folder in folders if folder in one.drop_ins), "")


def _generation(document: dict[str, Any]) -> int:
    """0 for configurations of containerd before 2.0, 1 from it on."""
    version = document.get("version")
    return int(isinstance(version, int) and version >= 3)


def _text(root: Root, path: str) -> str:
    resolved = root.resolve(path)
    try:
        return root.outside(resolved).read_text(errors="replace") if resolved else ""
    except OSError:
        return ""


def _document(text: str) -> dict[str, Any]:
    """Empty for what is no TOML: then the simulation tells what is wrong with it."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {}
