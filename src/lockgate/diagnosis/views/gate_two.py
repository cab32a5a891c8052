"""Gate 2 on each node: the runtime's handlers as loaded, the files that decide them, and the CDI devices it can inject.

What a node has loaded is told by the newest word about it (see `loaded`); what its files say is a different question,
answered from the files.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import PurePosixPath

import msgspec

from lockgate.cdi.registry import DEFAULT_DIRECTORIES, Directory, load
from lockgate.containerd.effective import Effective, resolve
from lockgate.containerd.load import ConfigError
from lockgate.containerd.releases import Release
from lockgate.containerd.traps import LostHandler, lost_handlers
from lockgate.containerd.values import Origin
from lockgate.diagnosis.views.loaded import (
    LoadedHandlers,
    Refusals,
    by_agent,
    by_kubelet,
    holding,
    refusals_by_node,
    standing,
)
from lockgate.model.facts import Events, Missing, NodeFiles, NodeFolders, Nodes, NodeStates, Pods
from lockgate.model.finding import Evidence
from lockgate.model.node_state import CDIState, GPUNodeState, RuntimeState
from lockgate.model.objects import Node

_CONTAINERD = "containerd://"
_STOCK = "/etc/containerd/config.toml"
# K3s and RKE2 bring a containerd of their own, and say so in the kubelet's version.
_OWN = {
    "+k3s": "/var/lib/rancher/k3s/agent/etc/containerd/config.toml",
    "+rke2": "/var/lib/rancher/rke2/agent/etc/containerd/config.toml",
}
_BROUGHT = "-k3s"  # their own containerd, in its release: one of somebody else's may be in use


class DefinedDevices(msgspec.Struct, frozen=True):
    """The CDI devices that a node's specifications define, by qualified name with the file; troubles by file.

    `conflicts` are names that two files of one directory define, with those files: by the CDI rules neither counts.
    """

    devices: dict[str, str]
    troubles: dict[str, str]
    conflicts: dict[str, tuple[str, ...]]
    place: str


class NodeGate:
    """Gate 2 of one node, read from whatever is known of it."""

    def __init__(
        self,
        name: str,
        node: Node | None = None,
        state: GPUNodeState | None = None,
        folder: NodeFiles | None = None,
        refusals: Refusals | None = None,
    ) -> None:
        self.name, self._node, self._state, self._folder = name, node, state, folder
        self._said = refusals or {}

    @property
    def is_unread(self) -> bool:
        """Whether nothing of the node itself is known, neither copied from it nor published by its agents."""
        return self._state is None and self._folder is None

    @property
    def runtime(self) -> RuntimeState | None:
        """What the node's agent published of the runtime."""
        return self._state.status.runtime if self._state else None

    @cached_property
    def loaded(self) -> LoadedHandlers | None:
        """The handlers as loaded, or None where nothing tells, or a newer refusal unsays what does."""
        return standing(self._lists, self._said)

    @cached_property
    def refusals(self) -> Refusals:
        """The handlers that the runtime has said to lack, with its words, as far as nothing newer unsays it."""
        return holding(self._lists, self._said) if self._said else {}

    @cached_property
    def _lists(self) -> tuple[LoadedHandlers | None, ...]:
        return by_agent(self._state), by_kubelet(self._node)

    @cached_property
    def release(self) -> Release | None:
        """The containerd release, or None where it is another runtime or not known."""
        if self._has_another_runtime:
            return None
        texts = (
            self.runtime.release if self.runtime and self.runtime.name in ("", "containerd") else "",
            self._folder.outputs.get("containerd-version", "") if self._folder else "",
            self._kubelets_runtime.removeprefix(_CONTAINERD),
        )
        return next((r for r in map(Release.found_in, texts) if r is not None), None)

    def quote(self, origin: Origin, *, field: str = "", value: str = "", note: str = "") -> Evidence:
        """Evidence from a place of the node's files; where the release says it itself, the top-level config stands."""
        file = f"{self.name}:{origin.file or self.root}"
        return Evidence(file=file, line=origin.line or None, field=field, value=value, note=note)

    @cached_property
    def files(self) -> dict[str, str]:
        """The runtime's configuration files by path; empty where none is known, or one was cut.

        Files that were copied from the node come first: what its agent published may be older.
        """
        if self.is_unread:
            return {}
        copied = self._folder_files(("/etc/containerd/", "/var/lib/rancher/"))
        if copied or not self.runtime or any(f.truncated for f in self.runtime.files):
            return copied
        return {f.path: f.text for f in self.runtime.files}

    def is_stale(self, refused: str) -> bool:
        """Whether what the agent published is older than the kubelet's refusal of a handler that it calls loaded."""
        copied = self._folder_files(("/etc/containerd/", "/var/lib/rancher/"))
        return not copied and self.runtime is not None and refused in {h.name for h in self.runtime.handlers}

    @property
    def root(self) -> str:
        """The top-level configuration file among the known files, "" when it is not there."""
        files = self.files
        if not files:
            return ""
        published = self.runtime.config_path if self.runtime else ""
        return next((path for path in (published, *self._places) if path in files), "")

    @property
    def _places(self) -> tuple[str, ...]:
        """Where that file may stand: the containerd that K3s and RKE2 bring reads none but its own."""
        if self._has_another_runtime:
            return ()
        kubelet = self._node.status.node_info.kubelet_version if self._node else ""
        own = tuple(path for mark, path in _OWN.items() if mark in kubelet)
        return own if own and _BROUGHT in self._kubelets_runtime else (*own, _STOCK, *_OWN.values())

    @property
    def _kubelets_runtime(self) -> str:
        """The runtime that the kubelet uses, in its own words; "" where the node was not read."""
        return self._node.status.node_info.container_runtime_version if self._node else ""

    @property
    def _has_another_runtime(self) -> bool:
        """Whether the kubelet uses no containerd: one that is there beside it makes no pods."""
        return self._node is not None and self._node.status.node_info.runtime not in ("", "containerd")

    @cached_property
    def effective(self) -> Effective | ConfigError | None:
        """What the files amount to on the node's release; None where files or release are not known."""
        if not self.root or self.release is None:
            return None
        return resolve(self.files, self.root, self.release)

    @cached_property
    def lost(self) -> tuple[LostHandler, ...]:
        """Handlers that a file defines in vain."""
        effective = self.effective
        return lost_handlers(effective, self.files) if isinstance(effective, Effective) else ()

    @cached_property
    def cdi(self) -> DefinedDevices | None:
        """The CDI devices that the node can inject, from files copied from it, else as published; None if neither."""
        copied = self._cdi_from_files()
        if copied is not None:
            return copied
        published = self._state.status.cdi if self._state else None
        if published is not None:
            return _published_devices(published, f"gpunodestate/{self.name}")
        return None

    def _cdi_from_files(self) -> DefinedDevices | None:
        if self._folder is None:
            return None
        directories = [_directory(self._folder.files, path) for path in DEFAULT_DIRECTORIES]
        if not any(directory.files for directory in directories):
            return None
        registry = load(directories)
        troubles = {path: "; ".join(texts) for path, texts in registry.troubles.items()}
        claims = _claims(
            (f"{file.spec.kind}={d.name}", file.path) for file in registry.files for d in file.spec.devices
        )
        conflicts = {name: claims[name] for name in sorted(registry.conflicts)}
        return DefinedDevices({name: f.file.path for name, f in registry.devices.items()}, troubles, conflicts, "")

    def _folder_files(self, prefixes: tuple[str, ...]) -> dict[str, str]:
        files = self._folder.files if self._folder else {}
        return {path: text for path, text in files.items() if path.startswith(prefixes)}


class GateTwo:
    """Gate 2 of every node that anything is known of."""

    def __init__(self, gates: Mapping[str, NodeGate]) -> None:
        self._gates = gates

    def on(self, node: str) -> NodeGate:
        """The gate of a node; one that nothing is known of answers None and empty."""
        return self._gates.get(node) or NodeGate(node)


def gate_two(
    nodes: Nodes | Missing,
    node_states: NodeStates | Missing,
    node_files: NodeFolders | Missing,
    events: Events | Missing,
    pods: Pods | Missing,
) -> GateTwo:
    """Bring together what is known of each node's gate 2."""
    by_node = {} if isinstance(nodes, Missing) else {n.name: n for n in nodes}
    states = {} if isinstance(node_states, Missing) else {s.name: s for s in node_states}
    folders = {} if isinstance(node_files, Missing) else {f.node: f for f in node_files}
    said = refusals_by_node(events, pods)
    names = {*by_node, *states, *folders, *said}
    return GateTwo({n: NodeGate(n, by_node.get(n), states.get(n), folders.get(n), said.get(n)) for n in names})


def _published_devices(state: CDIState, place: str) -> DefinedDevices:
    usable = [spec for spec in state.specs if not spec.error]
    claims = _claims((f"{spec.kind}={device}", spec.path) for spec in usable for device in spec.devices)
    conflicts = {
        name: files for name, files in claims.items() if len({PurePosixPath(f).parent for f in files}) < len(files)
    }
    # A later directory goes before an earlier one: /var/run/cdi sorts behind /etc/cdi.
    devices = {name: max(files) for name, files in claims.items() if name not in conflicts}
    return DefinedDevices(devices, {s.path: s.error for s in state.specs if s.error}, conflicts, place)


def _claims(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    claims: dict[str, tuple[str, ...]] = {}
    for name, path in pairs:
        claims[name] = (*claims.get(name, ()), path)
    return claims


def _directory(files: Mapping[str, str], path: str) -> Directory:
    # /var/run is a link to /run on every node; a folder may hold either.
    places = {path, path.removeprefix("/var")} if path.startswith("/var/run") else {path}
    inside = {
        PurePosixPath(name).name: text.encode()
        for name, text in files.items()
        if str(PurePosixPath(name).parent) in places
    }
    return Directory(path=path, files=inside)
