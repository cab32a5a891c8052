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
        root = Path(place)
        for section in API_SECTIONS:
            if section.section not in beside.get("missing", ()):
                _write(root / "cluster" / f"{section.plural}.json", _list(section.kind, objects[section.section]))
        for log, text in beside.get("logs", {}).items():
            namespace, pod, container = log.split("/")
            _write(root / "logs" / namespace / pod / f"{container}.log", text)
        for node, files in beside.get("files", {}).items():
            for path, text in files.items():
                _write(root / "nodes" / node / _place(path), text)
        return from_path(str(root), io.BytesIO())


def _list(kind: str, objects: list[dict[str, Any]]) -> str:
    items = [{"apiVersion": "v1", "kind": kind, **o} for o in objects]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, default=str)


def _place(path: str) -> str:
    return path.lstrip("/") if path.startswith("/") else path if "." in path else f"{path}.txt"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
