"""Keeps a node's labels in step with what it is, and never takes one away on a mere doubt.

Labels are applied with the field manager `lockgate-discovery`, so those of others are not touched. On a restart, an
unreadable file or an API error they stay. Where a real node-feature-discovery labels the node, this agent steps aside.
On a GPU node without our toolkit it also publishes what the runtime's files and CDI specifications say.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from lockgate.agents.discovery.gate_two import State, gate_two
from lockgate.agents.discovery.scan import Labels, scan
from lockgate.kube.errors import ApiError, Unreachable
from lockgate.kube.resources import NODES
from lockgate.model.names import NFD_PREFIX

_log = logging.getLogger("lockgate.discovery")
FIELD_MANAGER: Final = "lockgate-discovery"
NFD_ANNOTATION: Final = "nfd.node.kubernetes.io/feature-labels"
SCAN: Final = 60.0  # seconds between looks at the node
CHECK: Final = 5  # looks after which the Node object is read again, should someone have removed labels
BACKOFF: Final = (1.0, 2.0, 5.0, 15.0, 60.0)  # seconds after failures in a row
# What the labels of each source begin with, after NFD's prefix.
_STEMS: Final = {"pci": "pci-", "memory": "memory-", "kernel": "kernel-", "system": "system-"}


class NodeApi(Protocol):
    """The part of `kube.api.Api` that labelling uses."""

    async def get_manifest(self, resource: Any, name: str, namespace: str | None = None) -> dict[str, Any]: ...

    async def apply(self, body: dict[str, Any], field_manager: str) -> Any: ...


def unpublished(_: State) -> None:
    """Nowhere: the state is not published."""


class Discovery:
    """Labels one node; `run` until `stop`. `publish` gets the node's gate 2 where no toolkit says more of it."""

    def __init__(
        self,
        api: NodeApi,
        node: str,
        host: Path,
        *,
        every: float = SCAN,
        publish: Callable[[State], None] = unpublished,
    ) -> None:
        self._api = api
        self._node = node
        self._host = host
        self._every = every
        self._applied: Labels | None = None
        self._said = ""
        self._publish = publish
        self._published: State | None = None
        self._seen: Mapping[str, Any] = {}  # the Node as it was read last

    async def run(self, stop: asyncio.Event) -> None:
        """Look, label, sleep. Failures are logged once a kind and tried again."""
        failures, looks = 0, 0
        while not stop.is_set():
            if looks % CHECK == 0:
                self._applied = None
            try:
                await self.look()
                self._tell_gate_two()
                failures, looks, pause = 0, looks + 1, self._every
            except (ApiError, Unreachable) as error:
                self._say(f"{error}; the node keeps the labels that it has")
                pause = BACKOFF[min(failures, len(BACKOFF) - 1)]
                failures += 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), pause)

    async def look(self) -> None:
        """Scan once and label when something changed. Raises the errors of `kube.errors`."""
        found = scan(self._host)
        known = {name: value for labels in found.values() for name, value in (labels or {}).items()}
        if known == self._applied:
            return
        manifest = self._seen = await self._api.get_manifest(NODES, self._node)
        if _annotations(manifest).get(NFD_ANNOTATION):
            self._say("node-feature-discovery labels this node: stepping aside")
            return
        wanted = known | kept(found, owned_labels(manifest), _labels(manifest))
        if wanted != {name: _labels(manifest).get(name) for name in owned_labels(manifest)}:
            await self._api.apply(_body(self._node, wanted), FIELD_MANAGER)
            shown = ", ".join(f"{name.removeprefix(NFD_PREFIX)}={value}" for name, value in wanted.items())
            _log.info("node %s: %s", self._node, shown)
        self._applied = known
        self._say("")

    def _tell_gate_two(self) -> None:
        """Publish what differs from the last time; the first time also that there is nothing to say any more."""
        state = gate_two(self._host, self._seen)
        if state is not None and state != self._published:
            self._published = state
            self._publish(state)

    def _say(self, text: str) -> None:
        if text != self._said and text:
            _log.warning("node %s: %s", self._node, text)
        self._said = text


def kept(found: Mapping[str, Labels | None], owned: frozenset[str], labels: Mapping[str, str]) -> Labels:
    """Our labels of sources that cannot be read now."""
    unknown = tuple(NFD_PREFIX + _STEMS[source] for source, known in found.items() if known is None)
    return {name: labels[name] for name in sorted(owned) if name.startswith(unknown) and name in labels}


def owned_labels(manifest: Mapping[str, Any]) -> frozenset[str]:
    """The labels of a Node that this agent has applied, from the object's own record."""
    names: set[str] = set()
    for entry in manifest.get("metadata", {}).get("managedFields") or ():
        if entry.get("manager") == FIELD_MANAGER and entry.get("operation") == "Apply":
            fields = entry.get("fieldsV1", {}).get("f:metadata", {}).get("f:labels", {})
            names.update(name.removeprefix("f:") for name in fields if name.startswith("f:"))
    return frozenset(names)


def _labels(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    return manifest.get("metadata", {}).get("labels") or {}


def _annotations(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    return manifest.get("metadata", {}).get("annotations") or {}


def _body(node: str, labels: Labels) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": labels}}
