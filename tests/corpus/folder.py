"""A case as the folder that a person sends: written out, and read again through the door that `why --from` uses."""

import datetime as dt
import io
import json
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from lockgate.collect.bundle_manifest import BundleManifest, Part
from lockgate.collect.offline import from_path
from lockgate.model.facts import API_SECTIONS, Snapshot

_TAKEN_AT = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)


def through_folder(objects: dict[str, list[dict[str, Any]]], beside: dict[str, Any]) -> Snapshot:
    """The snapshot that is read from a folder with these objects, logs and files of nodes."""
    with tempfile.TemporaryDirectory() as place:
        for path, data in files_of(objects, beside).items():
            target = Path(place, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return from_path(place, io.BytesIO())


def files_of(objects: dict[str, list[dict[str, Any]]], beside: dict[str, Any]) -> dict[str, bytes]:
    """The files of that folder, by their paths in it."""
    missing = beside.get("missing", ())
    found = {
        f"cluster/{section.plural}.json": _list(section.kind, objects[section.section])
        for section in API_SECTIONS
        if section.section not in missing
    }
    if "pods" in missing and "namespace_pods" not in missing:
        found |= _of_one_namespace(objects["pods"], beside)
    found |= {f"logs/{log}.log": text for log, text in beside.get("logs", {}).items()}
    for node, files in beside.get("files", {}).items():
        found |= {f"nodes/{node}/{_place(path)}": text for path, text in files.items()}
    return {path: text.encode() for path, text in found.items()}


def _of_one_namespace(pods: list[dict[str, Any]], beside: dict[str, Any]) -> dict[str, str]:
    """The pods and the manifest of a bundle of somebody who may list the pods of one namespace alone."""
    only = Part(count=len(pods), only="default", others="may not be read", how="ask for it")
    manifest = BundleManifest(taken_at=beside.get("taken_at", _TAKEN_AT), sections={"pods": only})
    return {"cluster/pods.json": _list("Pod", pods), "manifest.json": msgspec.json.encode(manifest).decode()}


def _list(kind: str, objects: list[dict[str, Any]]) -> str:
    items = [{"apiVersion": "v1", "kind": kind, **o} for o in objects]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, default=str)


def _place(path: str) -> str:
    return path.lstrip("/") if path.startswith("/") else path if "." in path else f"{path}.txt"
