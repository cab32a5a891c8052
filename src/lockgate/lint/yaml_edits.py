"""Edits of YAML texts that touch no other character; None where no line can be written without guessing."""

import json
from typing import Final

from lockgate.lint.yaml_items import Item, Scalar, Span

_PLAIN: Final = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./-_"


def with_key(text: str, item: Item, name: str) -> str | None:
    """The text with another key before a value, quoted as the old one was."""
    return _replaced(text, item.key, name) if item.key else None


def with_scalar(text: str, item: Item, value: Scalar) -> str:
    """The text with another scalar in a value's place, quoted as the old one was."""
    return _replaced(text, item.span, value)


def _replaced(text: str, span: Span, value: Scalar) -> str:
    quote = text[span.start : span.start + 1]
    written = str(value)
    if quote == "'":
        written = "'" + written.replace("'", "''") + "'"
    elif quote == '"' or not _is_plain(written):
        written = json.dumps(written)
    return text[: span.start] + written + text[span.end :]


def _is_plain(written: str) -> bool:
    return bool(written) and all(char in _PLAIN for char in written)


def with_pair(text: str, mapping: Item, name: str, value: str) -> str | None:
    """The text with one more `name: value` at the end of a mapping; `value` is YAML of one line."""
    if mapping.mapping is None:
        return None
    if mapping.flow:
        quoted = _as_its_keys(text, mapping, name)
        at = mapping.span.end - 1
        inside = text[mapping.span.start + 1 : at].rstrip()
        gap = text[mapping.span.start + 1 + len(inside) : at]
        comma = ", " if inside else ""
        return f"{text[: mapping.span.start + 1]}{inside}{comma}{quoted}: {value}{gap}{text[at:]}"
    first = next(iter(mapping.mapping.values()), None)
    if first is None or first.key is None:
        return None
    return _line_behind(text, mapping, f"{_indent(text, first.key)}{name}: {value}")


def with_child(text: str, mapping: Item, name: str, key: str, value: str) -> str | None:
    """The text with a new mapping `name: {key: value}` at the end of another one, written as that is."""
    if mapping.flow:
        return with_pair(text, mapping, name, f"{{{_as_its_keys(text, mapping, key)}: {value}}}")
    first = next(iter((mapping.mapping or {}).values()), None)
    if first is None or first.key is None:
        return None
    indent = _indent(text, first.key)
    newline = newline_of(text)
    return _line_behind(text, mapping, f"{indent}{name}:{newline}{indent}  {key}: {value}")


def newline_of(text: str) -> str:
    """How the text ends its lines."""
    return "\r\n" if "\r\n" in text else "\n"


def _as_its_keys(text: str, mapping: Item, name: str) -> str:
    """A name quoted where the keys of a mapping in brackets are: JSON stays JSON."""
    first = text[mapping.span.start + 1 : mapping.span.end].lstrip()
    return json.dumps(name) if first.startswith('"') else name


def _line_behind(text: str, item: Item, line: str) -> str:
    """A line behind the last one that an item writes on."""
    end = text.find("\n", last_offset(item) - 1)
    newline = newline_of(text)
    if end < 0:
        return f"{text}{newline}{line}{newline}"
    return f"{text[: end + 1]}{line}{newline}{text[end + 1 :]}"


def last_offset(item: Item) -> int:
    """The offset behind the last character that an item writes: a block's own end lies behind blank lines."""
    ends = [child.span.end for child in item.walk() if (child.mapping is None and child.sequence is None) or child.flow]
    return max(ends, default=item.span.end)


def _indent(text: str, key: Span) -> str:
    """Blanks up to a key's column: what stands before it may be the dash of a list."""
    start = text.rfind("\n", 0, key.start) + 1
    return " " * (key.start - start)


def without(text: str, item: Item) -> str | None:
    """The text without the lines of a list's item or a mapping's pair, written in lines of their own."""
    begin_at = item.key.start if item.key else item.span.start
    begin = text.rfind("\n", 0, begin_at) + 1
    if text[begin:begin_at].strip(" ") not in ("", "-") or (item.key and text[begin:begin_at].strip()):
        return None  # in brackets, or behind a dash that other keys need
    last = last_offset(item)
    end = text.find("\n", last - 1)
    end = len(text) if end < 0 else end + 1
    behind = text[last : end - 1 if text[:end].endswith("\n") else end].strip()
    return text[:begin] + text[end:] if not behind or behind.startswith("#") else None
