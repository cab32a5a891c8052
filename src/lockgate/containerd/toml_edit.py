"""Adds an entry to the top-level `imports` of a file, or takes it out again, touching no other byte."""

from __future__ import annotations

from dataclasses import dataclass

from lockgate.containerd.document import BOM
from lockgate.containerd.toml_dialect import GO_TOML_2
from lockgate.containerd.toml_text import Reader


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int


def add_import(text: str, pattern: str) -> str:
    """The text with `pattern` as the last of its imports; a new line after `version`, or at the top, if it has none."""
    found = _top_level(text)
    array = found.get("imports")
    if array is None:
        return _insert_line(text, found.get("version"), f'imports = ["{pattern}"]')
    items = _items(text, array)
    if not items:
        return f'{text[: array.start + 1]}"{pattern}"{text[array.start + 1 :]}'
    at = items[-1].end
    return f'{text[:at]}, "{pattern}"{text[at:]}'


def has_imports(text: str) -> bool:
    """Whether the file has an `imports` of its own, so that `add_import` adds no line."""
    return "imports" in _top_level(text)


def remove_import(text: str, pattern: str, *, with_line: bool) -> str:
    """The text without `pattern` among its imports; `with_line` drops the line that `add_import` made for it."""
    array = _top_level(text).get("imports")
    if array is None:
        return text
    line = f'imports = ["{pattern}"]'
    start, end = _line_span(text, array.start)
    start += len(BOM) if text[start:].startswith(BOM) else 0
    if with_line and text[start:end].rstrip("\r\n") == line:
        return text[:start] + text[end:]
    items = _items(text, array)
    for at, item in enumerate(items):
        if text[item.start + 1 : item.end - 1] == pattern:
            start = items[at - 1].end if at else item.start
            end = items[at + 1].start if not at and len(items) > 1 else item.end
            return text[:start] + text[end:]
    return text


def _insert_line(text: str, version: _Span | None, line: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    if version is None:
        bom = BOM if text.startswith(BOM) else ""
        return f"{bom}{line}{newline}{text[len(bom) :]}"
    _, end = _line_span(text, version.start)
    gap = "" if text[:end].endswith("\n") else newline
    return f"{text[:end]}{gap}{line}{newline if not gap else ''}{text[end:]}"


def _line_span(text: str, at: int) -> tuple[int, int]:
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    return start, len(text) if end < 0 else end + 1


def _top_level(text: str) -> dict[str, _Span]:
    """Where the value of each undotted top-level key stands."""
    reader = Reader(text, GO_TOML_2)
    reader.at = len(BOM) if text.startswith(BOM) else 0
    found: dict[str, _Span] = {}
    while reader.skip_blank() and not reader.looking_at("["):
        key = reader.key()
        reader.take("=", "toml: expected = after a key")
        reader.skip_space()
        start = reader.at
        reader.value()
        if len(key.parts) == 1:
            found[key.parts[0]] = _Span(start, reader.at)
    return found


def _items(text: str, array: _Span) -> list[_Span]:
    reader = Reader(text, GO_TOML_2)
    reader.at = array.start + 1
    items: list[_Span] = []
    while reader.skip_blank() and not reader.looking_at("]"):
        start = reader.at
        reader.value()
        items.append(_Span(start, reader.at))
        reader.skip_blank()
        if reader.looking_at(","):
            reader.at += 1
    return items
