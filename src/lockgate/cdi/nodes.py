"""YAML text as a tree of nodes with line numbers, bounded; JSON is read the same way, as the reference library does.

libyaml parses, as in containerd (whose Go parser is a port of it). Nothing is typed here: `decode` does that.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

SIZE_LIMIT: Final = 4 << 20
DEPTH_LIMIT: Final = 100


class MalformedError(ValueError):
    """Text that is no YAML, or beyond the bounds; the message names the line."""


@dataclass(slots=True, eq=False)
class Scalar:
    """`tag` is "" unless one is written; `plain` when it is not quoted."""

    value: str
    tag: str
    plain: bool
    line: int


@dataclass(slots=True, eq=False)
class Sequence:
    tag: str
    line: int
    items: "list[Node]" = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Mapping:
    tag: str
    line: int
    pairs: "list[tuple[Node, Node]]" = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Alias:
    """A reference to a node that was named with an anchor, possibly one that holds it."""

    name: str
    target: "Node"
    line: int


Node = Scalar | Sequence | Mapping | Alias


def parse_document(content: bytes) -> Node | None:
    """The first document of a text, None when there is none. Raises MalformedError."""
    if len(content) > SIZE_LIMIT:
        raise MalformedError(f"{len(content)} bytes, more than the {SIZE_LIMIT} that a specification may have")
    try:
        return _Builder(_events(content), content.decode("utf-8", "replace")).document()
    except yaml.YAMLError as error:
        raise MalformedError(_one_line(error)) from error


def _events(content: bytes) -> Iterator[Any]:
    return yaml.parse(content, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))


def _one_line(error: yaml.YAMLError) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if problem is None:
        return " ".join(str(error).split())
    return f"line {mark.line + 1}: {problem}" if mark else str(problem)


class _Builder:
    """Turns one document's events into nodes."""

    def __init__(self, events: Iterator[Any], text: str) -> None:
        self.events = events
        self.text = text
        self.flow = 0  # how many brackets are open
        self.anchors: dict[str, Node] = {}

    def document(self) -> Node | None:
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                root = self.node(next(self.events), 0)
                next(self.events)  # the document's end
                with suppress(yaml.parser.ParserError):  # Go reads one token on: it may be misplaced, but not broken
                    next(self.events, None)
                return root
        return None

    def node(self, event: Any, depth: int) -> Node:
        line = event.start_mark.line + 1
        if depth > DEPTH_LIMIT:
            raise MalformedError(f"line {line}: nested deeper than {DEPTH_LIMIT} levels")
        match event:
            case yaml.AliasEvent():
                return self.alias(event.anchor, line)
            case yaml.ScalarEvent():
                self.check_dialect(event)
                return self.named(event, Scalar(event.value, _tag(event), event.style in (None, ""), line))
            case yaml.SequenceStartEvent():
                sequence = Sequence(_tag(event), line)
                self.named(event, sequence)
                sequence.items.extend(self.rest(event, yaml.SequenceEndEvent, depth))
                return sequence
            case _:
                mapping = Mapping(_tag(event), line)
                self.named(event, mapping)
                nodes = list(self.rest(event, yaml.MappingEndEvent, depth))
                mapping.pairs.extend(zip(nodes[::2], nodes[1::2], strict=True))
                return mapping

    def check_dialect(self, event: Any) -> None:
        """libyaml accepts `[!tag, x]`, `[a?b]` and the escape `\\/`; Go's port of it does not."""
        start, end = event.start_mark.index, event.end_mark.index
        written = self.text[start:end]
        last = (written.split() or [""])[-1]
        if event.tag and not event.value and last.startswith("!") and self.text[end : end + 1] == ",":
            raise MalformedError(f"line {event.start_mark.line + 1}: no white space after a tag")
        if self.flow and event.style in (None, "") and "?" in event.value:
            raise MalformedError(f"line {event.start_mark.line + 1}: `?` in brackets must be quoted")
        if event.style == '"' and "\\/" in written.replace("\\\\", ""):
            raise MalformedError(f"line {event.start_mark.line + 1}: found unknown escape character")

    def rest(self, start: Any, end: type, depth: int) -> Iterator[Node]:
        self.flow += bool(start.flow_style)
        while not isinstance(event := next(self.events), end):
            yield self.node(event, depth + 1)
        self.flow -= bool(start.flow_style)

    def named(self, event: Any, node: Node) -> Node:
        if event.anchor:
            self.anchors[event.anchor] = node
        return node

    def alias(self, name: str | None, line: int) -> Alias:
        if name is None or name not in self.anchors:
            raise MalformedError(f"unknown anchor '{name}' referenced")
        return Alias(name, self.anchors[name], line)


def _tag(event: Any) -> str:
    """The written tag in its short form (`!!int`), "" where none is written."""
    tag = event.tag
    if not tag or tag == "!":
        return "!!str" if tag == "!" and isinstance(event, yaml.ScalarEvent) else ""
    prefix = "tag:yaml.org,2002:"
    return "!!" + tag[len(prefix) :] if tag.startswith(prefix) else str(tag)
