"""Parts of JSON that nobody has typed: what has not the shape that is looked for is taken for not there."""

from collections.abc import Mapping
from typing import Any


def mapping_at(value: Any, *keys: str) -> Mapping[str, Any]:
    """The object at a path of keys; an empty one where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def mappings_at(value: Any, *keys: str) -> tuple[Mapping[str, Any], ...]:
    """The objects of the list at a path of keys; what else is in it is passed over."""
    *path, last = keys
    found = mapping_at(value, *path).get(last)
    return tuple(each for each in found if isinstance(each, dict)) if isinstance(found, list) else ()
