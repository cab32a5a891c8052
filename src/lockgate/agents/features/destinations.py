"""Where the labels go: to NFD when the cluster has it, else onto the Node itself; and into NFD's file where it is read.

Labels are only ever applied, never taken back when this program ends: a node keeps what is known of it.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from lockgate.apply.files import write_file
from lockgate.kube.errors import NotFound

FIELD_MANAGER: Final = "lockgate-features"
NFD_API: Final = "nfd.k8s-sigs.io/v1alpha1"
_log = logging.getLogger("lockgate.features")


class LabelApi(Protocol):
    """The part of `kube.api.Api` that labelling uses."""

    async def read(self, path: str) -> Any: ...

    async def apply(self, body: dict[str, Any], field_manager: str) -> Any: ...

    async def close(self) -> None: ...


async def has_nfd(api: LabelApi) -> bool:
    """Whether the cluster serves NodeFeature, so that NFD's master turns it into labels."""
    try:
        await api.read(f"/apis/{NFD_API}")
    except NotFound:
        return False
    return True


def node_manifest(node: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """What to apply to label the Node itself."""
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node, "labels": dict(labels)}}


def feature_manifest(node: str, namespace: str, labels: Mapping[str, str]) -> dict[str, Any]:
    """What to apply for NFD's master to label the node; named as NVIDIA's program names it."""
    metadata = {
        "name": f"nvidia-features-for-{node}",
        "namespace": namespace,
        "labels": {"nfd.node.kubernetes.io/node-name": node},
    }
    return {"apiVersion": NFD_API, "kind": "NodeFeature", "metadata": metadata, "spec": {"labels": dict(labels)}}


def render_file(labels: Mapping[str, str]) -> str:
    """NFD's feature file: a `key=value` line each."""
    return "".join(f"{key}={value}\n" for key, value in labels.items())


def write_features(path: Path, labels: Mapping[str, str]) -> bool:
    """Bring the feature file up to date where NFD reads one; whether it changed. Without the folder nothing is done."""
    if not path.parent.is_dir():
        return False
    changed = write_file(path, render_file(labels).encode())
    if changed:
        _log.info("%s: %d labels written", path, len(labels))
    return changed
