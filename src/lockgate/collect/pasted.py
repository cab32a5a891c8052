"""Text copied from a terminal: `kubectl describe pod|node`, of one object or several, or events."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from lockgate.collect.describe import looks_described, parse_described
from lockgate.collect.describe_events import events_about
from lockgate.collect.describe_lines import whole_lines
from lockgate.collect.describe_node import looks_like_node, parse_described_nodes
from lockgate.collect.errors import InputError
from lockgate.collect.event_rows import looks_like_events
from lockgate.collect.event_table import parse_events, told_by
from lockgate.model.facts import SECTIONS, Missing, Snapshot
from lockgate.model.objects import ObjectReference
from lockgate.model.told import UNSEEN_NAMESPACE

_FIRST_LINE = re.compile(r"(?m)^(?=Name:[ \t])")
# A line of the events at the end of a description, with or without what is above it.
_EVENT_LINE = re.compile(r"(?m)^\s*(?:Normal|Warning)\s+[A-Z]\w+\s+\d+[smhdy]\S*(?: \(x\d+ over \S+\))?\s+\S+\s+\S")


def looks_pasted(text: str) -> bool:
    """Whether a text is one that `parse_pasted` reads."""
    described = any(looks_described(part) or looks_like_node(part) for part in _parts(text))
    return looks_like_events(text) or described or _EVENT_LINE.search(text) is not None


def parse_pasted(name: str, text: str, namespace: str = "", pod: str = "") -> Snapshot:
    """The facts of everything that a text describes; raises InputError where a part of it is none.

    `namespace` and `pod` are those of events that do not show what they are about.
    """
    parts = _parts(text)
    nodes = "".join(part for part in parts if looks_like_node(part))
    found = [parse_described_nodes(name, nodes)] if nodes else []
    pods = [parse_described(name, p) for p in parts if not looks_like_node(p) and looks_described(p)]
    found += [parse_events(part, namespace, pods) for part in parts if looks_like_events(part)]
    found += pods
    about = ObjectReference(kind="Pod", namespace=namespace or UNSEEN_NAMESPACE, name=pod)
    return joined(found) if found else _events_alone(name, text, about)


def _parts(text: str) -> list[str]:
    return [part for part in _FIRST_LINE.split(text.replace("\r\n", "\n")) if part.strip()]


def _events_alone(name: str, text: str, about: ObjectReference) -> Snapshot:
    """The end of a description, from which the name was cut off."""
    if not about.name:
        raise InputError(
            f"{name}: shows events and not whose they are; say it (kubectl gpu why pod/NAME --from -), "
            "or paste the description from its first line"
        )
    return told_by(tuple(events_about(about, whole_lines(text.replace("\r\n", "\n")))))


def joined(parts: Iterable[Snapshot]) -> Snapshot:
    """What any of them knows; of a section that several know all that they know."""
    first, *others = parts
    for other in others:
        left_out = tuple(dict.fromkeys((*first.left_out, *other.left_out)))
        first = msgspec.structs.replace(first, left_out=left_out, **dict(_both(first, other)))
    return first


def _both(one: Snapshot, other: Snapshot) -> Iterable[tuple[str, Any]]:
    for section in SECTIONS:
        ours, theirs = getattr(one, section), getattr(other, section)
        if isinstance(ours, Missing):
            yield section, theirs
        elif not isinstance(theirs, Missing):
            yield section, (*ours, *theirs)
