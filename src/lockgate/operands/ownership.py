"""Whose a node's labels are: the API server keeps, for each, the name of the program that wrote it last."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

OURS: Final = "lockgate-"
GROUPS: Final = ("nvidia.com/", "lockgate.dev/")


def removal_patch(node: Mapping[str, Any]) -> dict[str, Any]:
    """The merge patch that removes the labels and annotations that our programs wrote; empty when there are none.

    `node` is the untyped object with its `managedFields`. What a person or another program wrote stays, since its
    field then belongs to them.
    """
    metadata = node["metadata"]
    found = {
        section: {key: None for key in sorted(_owned(metadata, section)) if key in metadata.get(section, {})}
        for section in ("labels", "annotations")
    }
    changes = {section: keys for section, keys in found.items() if keys}
    return {"metadata": changes} if changes else {}


def _owned(metadata: Mapping[str, Any], section: str) -> set[str]:
    ours, others = set(), set()
    for entry in metadata.get("managedFields", []):
        keys = set(_keys(entry, section))
        if str(entry.get("manager", "")).startswith(OURS):
            ours |= keys
        else:
            others |= keys
    return ours - others


def _keys(entry: Mapping[str, Any], section: str) -> Iterator[str]:
    fields = entry.get("fieldsV1", {}).get("f:metadata", {}).get(f"f:{section}", {})
    return (key.removeprefix("f:") for key in fields if key.removeprefix("f:").startswith(GROUPS))
