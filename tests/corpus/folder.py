"""A case as the folder that a person sends: written out, and read again through the door that `why --from` uses."""

import io
import json
import tempfile
from pathlib import Path
from typing import Any

from lockgate.collect.offline import from_path
from lockgate.model.facts import API_SECTIONS, Snapshot


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
    found = {
        f"cluster/{section.plural}.json": _list(section.kind, objects[section.section])
        for section in API_SECTIONS
        if section.section not in beside.get("missing", ())
    }
    found |= {f"logs/{log}.log": text for log, text in beside.get("logs", {}).items()}
    for node, files in beside.get("files", {}).items():
        found |= {f"nodes/{node}/{_place(path)}": text for path, text in files.items()}
    return {path: text.encode() for path, text in found.items()}


def _list(kind: str, objects: list[dict[str, Any]]) -> str:
    items = [{"apiVersion": "v1", "kind": kind, **o} for o in objects]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, default=str)


def _place(path: str) -> str:
    return path.lstrip("/") if path.startswith("/") else path if "." in path else f"{path}.txt"
