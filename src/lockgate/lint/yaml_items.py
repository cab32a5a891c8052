"""YAML (and JSON) documents as values that know their place in the text; anchors are followed, within bounds.

libyaml composes, scalars mean what YAML 1.1 says (as kubectl's library takes them). Offsets count characters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

SIZE_LIMIT: Final = 4 << 20
ITEM_LIMIT: Final = 200_000  # after anchors are followed
DEPTH_LIMIT: Final = 100
Scalar = str | int | float | bool | None


class YamlError(ValueError):
    """Text that is no YAML, or beyond the bounds; the message names the line."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the text: its first line, and the offsets of its first character and of the one behind it."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """One value. A mapping or list has children; a scalar has a `value`. `key` is the place of its key in a mapping.

    `flow`: written in brackets, or a quoted or plain scalar in such.
    """

    span: Span
    value: Scalar = None
    mapping: Mapping[str, "Item"] | None = None
    sequence: tuple["Item", ...] | None = None
    key: Span | None = None
    flow: bool = False

    def get(self, *path: str) -> "Item | None":
        """The value below some keys; None where there is none."""
        found: Item | None = self
        for name in path:
            found = found.mapping.get(name) if found is not None and found.mapping is not None else None
        return found

    def pairs(self) -> Iterator[tuple[str, "Item"]]:
        """The keys and values of a mapping; nothing of what is none."""
        yield from (self.mapping or {}).items()

    def each(self) -> tuple["Item", ...]:
        """The items of a list; nothing of what is none."""
        return self.sequence or ()

    def items(self, *path: str) -> tuple["Item", ...]:
        """The items of a list below some keys; nothing where there is none."""
        found = self.get(*path)
        return found.each() if found is not None else ()

    def text(self, *path: str) -> str:
        """A scalar below some keys as text; "" where there is none."""
        found = self.get(*path)
        if found is None or found.value is None:
            return ""
        return str(found.value).lower() if isinstance(found.value, bool) else str(found.value)

    @property
    def line(self) -> int:
        """Where it begins to be said: its key's line, else its own."""
        return self.key.line if self.key else self.span.line

    def walk(self) -> Iterator["Item"]:
        """The value and all below it."""
        yield self
        for child in (*(self.mapping or {}).values(), *self.each()):
            yield from child.walk()

    def path_of(self, item: "Item") -> tuple[str, ...] | None:
        """Where a value stands below this one; None where it does not."""
        if item is self:
            return ()
        for name, child in (*self.pairs(), *((str(n), each) for n, each in enumerate(self.each()))):
            found = child.path_of(item)
            if found is not None:
                return (name, *found)
        return None

    def leaves(self, at: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Scalar]]:
        """Every scalar with its path, list items by number; an empty mapping or list is one too."""
        children = [*self.pairs(), *((str(n), item) for n, item in enumerate(self.each()))]
        if not children:
            yield at, self.value
        for name, child in children:
            yield from child.leaves((*at, name))


def documents(text: str) -> tuple[Item, ...]:
    """Every document of a text that is not empty. Raises YamlError."""
    if len(text) > SIZE_LIMIT:
        raise YamlError(f"{len(text)} characters, more than the {SIZE_LIMIT} that are read")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
    try:
        found = []
        while loader.check_node():
            found.append(_Reader(loader).item(loader.get_node(), None, 0, False))
        return tuple(item for item in found if item.mapping is not None or item.sequence is not None)
    except (yaml.YAMLError, ValueError) as error:
        raise YamlError(_one_line(error)) from error
    finally:
        loader.dispose()


class _Reader:
    """Turns the nodes of one document into items, and counts them."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader
        self._count = 0

    def item(self, node: Any, key: Span | None, depth: int, flow: bool) -> Item:
        self._count += 1
        if self._count > ITEM_LIMIT or depth > DEPTH_LIMIT:
            raise YamlError(f"line {node.start_mark.line + 1}: too many values, or nested too deep")
        span = _span(node)
        match node:
            case yaml.MappingNode():
                inside = bool(node.flow_style)
                return Item(span, mapping=dict(self._pairs(node, depth, inside)), key=key, flow=inside)
            case yaml.SequenceNode():
                inside = bool(node.flow_style)
                each = tuple(self.item(child, None, depth + 1, inside) for child in node.value)
                return Item(span, sequence=each, key=key, flow=inside)
            case _:
                return Item(span, value=self._scalar(node), key=key, flow=flow)

    def _pairs(self, node: Any, depth: int, flow: bool) -> Iterator[tuple[str, Item]]:
        for name, value in node.value:
            if isinstance(name, yaml.ScalarNode):
                if name.tag == "tag:yaml.org,2002:merge":
                    merged = self.item(value, None, depth + 1, flow)
                    for each in merged.each() or (merged,):
                        yield from each.pairs()
                    continue
                yield str(name.value), self.item(value, _span(name), depth + 1, flow)

    def _scalar(self, node: Any) -> Scalar:
        value = self._loader.construct_object(node)
        return value if isinstance(value, str | int | float | bool) or value is None else str(node.value)


def _span(node: Any) -> Span:
    return Span(node.start_mark.line + 1, node.start_mark.index, node.end_mark.index)


def _one_line(error: Exception) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if problem is None:
        return " ".join(str(error).split())
    return f"line {mark.line + 1}: {problem}" if mark else str(problem)
