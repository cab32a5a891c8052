"""Text copied from a terminal: `kubectl describe pod|node`, of one object or several, or an event list."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from lockgate.collect.describe import looks_described, parse_described
from lockgate.collect.describe_node import looks_like_node, parse_described_nodes
from lockgate.collect.event_table import looks_like_events, parse_events
from lockgate.model.facts import SECTIONS, Missing, Snapshot

_FIRST_LINE = re.compile(r"(?m)^(?=Name:[ \t])")


def looks_pasted(text: str) -> bool:
    """Whether a text is one that `parse_pasted` reads."""
    return looks_like_events(text) or looks_described(text) or looks_like_node(text)


def parse_pasted(name: str, text: str, namespace: str = "") -> Snapshot:
    """The facts of everything that a text describes; raises InputError where a part of it is none.

    `namespace` is that of an event list that does not show its own.
    """
    parts = [part for part in _FIRST_LINE.split(text.replace("\r\n", "\n")) if part.strip()]
    nodes = "".join(part for part in parts if looks_like_node(part))
    found = [parse_described_nodes(name, nodes)] if nodes else []
    found += [parse_events(part, namespace or "default") for part in parts if looks_like_events(part)]
    found += [parse_described(name, p) for p in parts if not looks_like_node(p) and looks_described(p)]
    return _joined(found)


def _joined(parts: Iterable[Snapshot]) -> Snapshot:
    """What any of them knows; of a section that several know all that they know."""
    first, *others = parts
    for other in others:
        first = msgspec.structs.replace(first, **dict(_both(first, other)))
    return first


def _both(one: Snapshot, other: Snapshot) -> Iterable[tuple[str, Any]]:
    for section in SECTIONS:
        ours, theirs = getattr(one, section), getattr(other, section)
        if isinstance(ours, Missing):
            yield section, theirs
        elif not isinstance(theirs, Missing):
            yield section, (*ours, *theirs)
