"""A TOML text as a row of statements with their places, and edits of it that touch no other byte."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import tomli_w

from lockgate.containerd.document import BOM
from lockgate.containerd.toml_dialect import Dialect
from lockgate.containerd.toml_text import Reader
from lockgate.containerd.values import Plain

Path = tuple[str, ...]


class Kind(Enum):
    """What a statement does."""

    TABLE = "[table]"
    ARRAY = "[[table]]"
    PAIR = "key = value"


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: the table it stands in or opens, its full path, its line, and its offsets in the text."""

    kind: Kind
    table: Path
    path: Path
    line: int
    start: int
    end: int  # behind the line's end
    value_start: int = 0
    value_end: int = 0


def statements(text: str, dialect: Dialect) -> tuple[Statement, ...]:
    """Every statement of a text in its order; raises TomlError where the dialect's library would refuse the syntax."""
    reader = Reader(text, dialect)
    reader.at = len(BOM) if text.startswith(BOM) else 0
    found: list[Statement] = []
    table: Path = ()
    while reader.skip_blank():
        statement = _header(reader) if reader.looking_at("[") else _pair(reader, table)
        table = statement.table
        found.append(statement)
    return tuple(found)


def _header(reader: Reader) -> Statement:
    start = reader.at
    kind = Kind.ARRAY if reader.looking_at("[[") else Kind.TABLE
    reader.at += 2 if kind is Kind.ARRAY else 1
    reader.skip_space()
    key = reader.key()
    reader.take("]]" if kind is Kind.ARRAY else "]", "toml: expected ]")
    return Statement(kind, key.parts, key.parts, key.line, start, _line_end(reader))


def _pair(reader: Reader, table: Path) -> Statement:
    start = reader.at
    key = reader.key()
    reader.take("=", "toml: expected = after a key")
    reader.skip_space()
    value = reader.at
    reader.value()
    end = reader.at
    return Statement(Kind.PAIR, table, (*table, *key.parts), key.line, start, _line_end(reader), value, end)


def _line_end(reader: Reader) -> int:
    reader.end_of_line()
    end = reader.text.find("\n", reader.at)
    return len(reader.text) if end < 0 else end + 1


def literal(value: Plain) -> str:
    """A value as TOML writes it, on one line."""
    match value:
        case list():
            return f"[{', '.join(literal(item) for item in value)}]"
        case dict():
            pairs = ", ".join(f"{key_path((name,))} = {literal(item)}" for name, item in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case None:
            return '""'  # no TOML has it; a struct of Go prints it so
        case _:
            return tomli_w.dumps({"x": value}, multiline_strings=False).removeprefix("x = ").strip()


_BARE = re.compile(r"[A-Za-z0-9_-]+")


def key_path(path: Path) -> str:
    """A path of names as TOML writes it, whatever characters are in them."""
    return ".".join(name if _BARE.fullmatch(name) else literal(name) for name in path)


def without(text: str, gone: Iterable[Statement]) -> str:
    """The text without the lines of some statements."""
    for statement in sorted(gone, key=lambda s: s.start, reverse=True):
        begin = text.rfind("\n", 0, statement.start) + 1
        text = text[:begin] + text[statement.end :]
    return text


def with_value(text: str, pair: Statement, value: Plain) -> str:
    """The text with another value in one statement."""
    return text[: pair.value_start] + literal(value) + text[pair.value_end :]


def with_pair(text: str, row: tuple[Statement, ...], table: Path, key: str, value: Plain) -> str | None:
    """The text with one more key in a table; None where the table is written in a way that no line can be added to."""
    if any(s.kind is Kind.ARRAY and s.path == table[: len(s.path)] for s in row):
        return None
    line = f"{key_path((key,))} = {literal(value)}"
    header = next((s for s in row if s.kind is Kind.TABLE and s.path == table), None)
    if header is not None:
        return _insert(text, _last_of(row, header), line)
    if not table:
        return _at_top(text, row, line)
    if any(s.kind is Kind.PAIR and _is_within(s, table) for s in row):
        return None  # written with dotted keys or in braces
    newline = newline_of(text)
    gap = "" if not text or text.endswith("\n") else newline
    return f"{text}{gap}{newline}[{key_path(table)}]{newline}{line}{newline}"


def _is_within(pair: Statement, table: Path) -> bool:
    """Whether a key above a table writes into it: `a.b.c = 1` under `[x]`, or `a = { ... }`."""
    return len(pair.table) < len(table) and (pair.path == table[: len(pair.path)] or pair.path[: len(table)] == table)


def _last_of(row: tuple[Statement, ...], header: Statement) -> Statement:
    last = header
    for statement in row[row.index(header) + 1 :]:
        if statement.kind is not Kind.PAIR:
            break
        last = statement
    return last


def _insert(text: str, after: Statement, line: str) -> str:
    begin = text.rfind("\n", 0, after.start) + 1
    indent = text[begin : after.start] if after.kind is Kind.PAIR and not text[begin : after.start].strip() else ""
    newline = newline_of(text)
    gap = "" if text[: after.end].endswith("\n") else newline
    return f"{text[: after.end]}{gap}{indent}{line}{newline}{text[after.end :]}"


def _at_top(text: str, row: tuple[Statement, ...], line: str) -> str:
    top = [s for s in row if s.kind is Kind.PAIR and not s.table]
    if top:
        return _insert(text, top[-1], line)
    bom = BOM if text.startswith(BOM) else ""
    return f"{bom}{line}{newline_of(text)}{text[len(bom) :]}"


def newline_of(text: str) -> str:
    """How the text ends its lines."""
    return "\r\n" if "\r\n" in text else "\n"
