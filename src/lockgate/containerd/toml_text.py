"""Reads TOML text token by token with positions: keys, strings, numbers, dates, arrays and inline tables.

tomllib keeps no line numbers and speaks one dialect; containerd 1.x (go-toml v1) and 2.x (go-toml v2) each speak their
own, so this reader asks `Dialect` where they differ. What a table may do twice is decided in `toml_tables`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import NamedTuple

from lockgate.containerd.toml_dialect import Dialect
from lockgate.containerd.toml_scalars import DATE, SCALARS
from lockgate.containerd.values import Plain


class TomlError(ValueError):
    """Text that the dialect refuses: message as the library words it where that is known, line and column from 1."""

    def __init__(self, message: str, line: int, column: int, *, structural: bool = False, panics: bool = False) -> None:
        super().__init__(message)
        self.message, self.line, self.column = message, line, column
        self.structural, self.panics = structural, panics


class Key(NamedTuple):
    """A possibly dotted key: its parts, the text as written, and where it starts."""

    parts: tuple[str, ...]
    raw: str
    line: int
    column: int


class InlineTable(dict[str, Plain]):
    """A table written in braces; nothing may be added to it later."""


_BLANK = re.compile(r"(?:[ \t]|\r?\n|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_LITERAL = re.compile(r"'([^'\n]*)'")
_BASIC = re.compile(r'"((?:[^"\\\n]|\\[^\n])*)"')
_LONG_LITERAL = re.compile(r"'''\r?\n?(.*?)'''('{0,2})", re.DOTALL)
_LONG_BASIC = re.compile(r'"""\r?\n?((?:[^\\]|\\.)*?)"""("{0,2})', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([ \t]*\r?\n\s*)|(.))", re.DOTALL)
_SIMPLE = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\", "e": "\x1b"}
_END_OF_VALUE = re.compile(r"[\s,\]}#]|\Z")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")


class Reader:
    """A cursor over the text of one file."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect = dialect
        self.at = 0
        self._line_starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def where(self, at: int) -> tuple[int, int]:
        """Line and column of an offset, from 1."""
        line = bisect_right(self._line_starts, at)
        return line, at - self._line_starts[line - 1] + 1

    def error(self, message: str, at: int | None = None) -> TomlError:
        """An error at an offset (default: the cursor)."""
        return TomlError(message, *self.where(self.at if at is None else at))

    def skip_blank(self) -> bool:
        """Step over white space, line ends and comments; False at the end of the text."""
        self.at = _match(_BLANK, self.text, self.at).end()
        return self.at < len(self.text)

    def skip_space(self) -> None:
        """Step over spaces and tabs."""
        self.at = _match(_SPACE, self.text, self.at).end()

    def looking_at(self, token: str) -> bool:
        """True when the text goes on with a token."""
        return self.text.startswith(token, self.at)

    def take(self, token: str, message: str) -> None:
        """Step over a token that must be there."""
        if not self.looking_at(token):
            raise self.error(message)
        self.at += len(token)

    def end_of_line(self) -> None:
        """A key-value or header must end its line; a comment may follow."""
        self.skip_space()
        rest = self.text[self.at : self.at + 2]
        if rest and rest[0] not in "#\n" and rest != "\r\n":
            raise self.error(f"toml: unexpected character {rest[0]!r} after the value")

    def key(self) -> Key:
        """A bare, quoted or dotted key."""
        start = self.at
        line, column = self.where(start)
        parts = [self._key_part()]
        end = self.at
        self.skip_space()
        while self.looking_at("."):
            self.at += 1
            self.skip_space()
            parts.append(self._key_part())
            end = self.at
            self.skip_space()
        return Key(tuple(parts), self.text[start:end], line, column)

    def _key_part(self) -> str:
        if match := _BARE.match(self.text, self.at):
            self.at = match.end()
            return match.group()
        if self.looking_at("'") and (match := _LITERAL.match(self.text, self.at)):
            self.at = match.end()
            return match.group(1)
        if self.looking_at('"') and (match := _BASIC.match(self.text, self.at)):
            self.at = match.end()
            return self._unescape(match.group(1), match.start(1))
        first = self.text[self.at : self.at + 1].encode()[:1].decode("latin-1")
        found = f"U+{ord(first):04X} {first!r}" if first else "end of file"
        raise self.error(f"toml: invalid character at start of key: {found}")

    def value(self) -> Plain:
        """Any value."""
        first = self.text[self.at : self.at + 1]
        if reader := _BY_FIRST.get(first):
            return reader(self)
        return self._date_or_number()

    def string(self) -> Plain:
        """A string in any of the four quotings."""
        for opening, pattern in _STRINGS:
            if not self.looking_at(opening):
                continue
            match = pattern.match(self.text, self.at)
            if not match:
                raise self.error("toml: unterminated string")
            self.at = match.end()
            body = match.group(1) + (match.group(2) if len(opening) == 3 else "")
            if bad := _CONTROL.search(body):
                raise self.error("toml: invalid character in string", match.start(1) + bad.start())
            return self._unescape(body, match.start(1)) if opening[0] == '"' else body
        raise self.error("toml: unterminated string")

    def _unescape(self, body: str, at: int) -> str:
        if "\\" not in body:
            return body

        def one(match: re.Match[str]) -> str:
            short, long, newline, simple = match.groups()
            if newline is not None:
                return ""
            if simple is not None:
                if simple not in _SIMPLE:
                    raise self.error(f"toml: invalid escaped character {simple!r}", at + match.start())
                return _SIMPLE[simple]
            code = int(short or long, 16)
            if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
                raise self.error("toml: invalid unicode escape", at + match.start())
            return chr(code)

        return _ESCAPE.sub(one, body)

    def boolean(self) -> Plain:
        """`true` or `false`."""
        for word, value in (("true", True), ("false", False)):
            if self.looking_at(word):
                self.at += len(word)
                return value
        raise self.error(f"toml: expected a value, found {self.text[self.at : self.at + 8]!r}")

    def array(self) -> Plain:
        """An array; white space, line ends and comments may stand between its items."""
        start = self.at
        self.at += 1
        items: list[Plain] = []
        while self.skip_blank():
            if self.looking_at("]"):
                self.at += 1
                return items
            items.append(self.value())
            self.skip_blank()
            if self.looking_at(","):
                self.at += 1
            elif not self.looking_at("]"):
                break
        raise self.error("toml: array is incomplete", start if self.at >= len(self.text) else self.at)

    def inline_table(self) -> Plain:
        """A table in braces."""
        self.at += 1
        table = InlineTable()
        self.skip_space()
        if self.looking_at("}"):
            self.at += 1
            return table
        while True:
            self.skip_space()
            key = self.key()
            self.take("=", "toml: expected = after a key in an inline table")
            self.skip_space()
            self._put_inline(table, key, self.value())
            self.skip_space()
            if self.looking_at("}"):
                self.at += 1
                return table
            self.take(",", "toml: expected , or } in an inline table")

    def _put_inline(self, table: dict[str, Plain], key: Key, value: Plain) -> None:
        for part in key.parts[:-1]:
            child = table.setdefault(part, {})
            if not isinstance(child, dict) or isinstance(child, InlineTable):
                raise TomlError(
                    f"toml: expected {part} to be a table, not a value", key.line, key.column, structural=True
                )
            table = child
        if key.parts[-1] in table and not self.dialect.replaces_maps:
            raise TomlError(f"toml: key {key.parts[-1]} is already defined", key.line, key.column, structural=True)
        table[key.parts[-1]] = value

    def _date_or_number(self) -> Plain:
        start = self.at
        for pattern, convert in SCALARS:
            match = pattern.match(self.text, start)
            if match and _END_OF_VALUE.match(self.text, match.end()):
                self.at = match.end()
                if pattern is DATE and not match[4] and self.dialect.strict_date_end and self._no_space_follows():
                    raise self.error("parsing error: incorrect date/time separation character: ")
                try:
                    return convert(match)
                except ValueError as error:
                    raise self.error(f"toml: {error}", start) from None
        raise self.error(f"toml: expected a value, found {self.text[start : start + 8]!r}")

    def _no_space_follows(self) -> bool:
        return self.at < len(self.text) and self.text[self.at] != " "


def _match(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str]:
    match = pattern.match(text, at)
    assert match is not None  # the pattern matches the empty string
    return match


_STRINGS = (('"""', _LONG_BASIC), ("'''", _LONG_LITERAL), ('"', _BASIC), ("'", _LITERAL))
_BY_FIRST: dict[str, Callable[[Reader], Plain]] = {
    '"': Reader.string,
    "'": Reader.string,
    "t": Reader.boolean,
    "f": Reader.boolean,
    "[": Reader.array,
    "{": Reader.inline_table,
}
