"""Reads TOML text token by token with positions: keys, strings, numbers, dates, arrays and inline tables.

tomllib keeps no line numbers and speaks one dialect; containerd 1.x (go-toml v1) and 2.x (go-toml v2) each speak their
own, so this reader asks `Dialect` where they differ. What a table may do twice is decided in `toml_tables`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from datetime import date
from typing import NamedTuple

from lockgate.containerd.toml_dialect import Dialect
from lockgate.containerd.toml_scalars import read_scalar
from lockgate.containerd.toml_strings import StringError, read_key, read_string
from lockgate.containerd.values import Plain

_DEEPEST = 200  # values in one another


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
_NUMBERLIKE = re.compile(r"(?!0\d)[-+._\d][-+._:\dTZEtze]*(?=[\s,\]}#]|\Z)")
_WORD = re.compile(r"[^\s,\]}#]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Unfit(str):
    """A date or number that is well spelled and means nothing (month 13): go-toml v2 refuses it where it is used."""

    __slots__ = ("error",)
    error: TomlError


class Reader:
    """A cursor over the text of one file."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text = text
        self.dialect = dialect
        self.at = self._depth = 0
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
        if self.dialect.major == 1 and self.looking_at("."):
            self.at += 1  # go-toml v1 passes over a dot in front
        parts = [self._key_part()]
        end = self.at
        self.skip_space()
        while self.looking_at("."):
            if len(parts) > _DEEPEST:
                raise self.error(f"nested more than {_DEEPEST} deep, which is not followed here")
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
        if self.text[self.at : self.at + 1] in ('"', "'") and not self.looking_at('"""') and not self.looking_at("'''"):
            return self._string(read_key)
        first = self.text[self.at : self.at + 1].encode()[:1].decode("latin-1")
        found = f"U+{ord(first):04X} {first!r}" if first else "end of file"
        raise self.error(f"toml: invalid character at start of key: {found}")

    def value(self) -> Plain:
        """Any value."""
        first = self.text[self.at : self.at + 1]
        if self.dialect.major == 1 and first and first in ",]}":
            raise self.unhandled_token()
        if reader := _BY_FIRST.get(first):
            return self._deeper(reader)
        return self._date_or_number()

    def _deeper(self, reader: Callable[[Reader], Plain]) -> Plain:
        """A value inside of others; Go follows any depth, and no configuration has a thousandth of this one."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.error(f"nested more than {_DEEPEST} deep, which is not followed here")
        value = reader(self)
        self._depth -= 1
        return value

    def unhandled_token(self) -> TomlError:
        """go-toml v1 meets a token for which it has no rule where a value should be."""
        line, _ = self.where(self.at)
        return TomlError("unhandled token: ", line, 0, panics=self.dialect.token_errors_crash)

    def string(self) -> Plain:
        """A string in any of the four quotings."""
        return self._string(read_string)

    def _string(self, read: Callable[[str, int, Dialect], tuple[str, int]]) -> str:
        try:
            value, self.at = read(self.text, self.at, self.dialect)
        except StringError as error:
            raise self.error(error.message, error.at) from None
        return value

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
        """A table in braces; TOML 1.1 lets it span lines and end in a comma."""
        self.at += 1
        table = InlineTable()
        self._inside()
        while not self.looking_at("}"):
            key = self.key()
            self.take("=", "toml: expected = after a key in an inline table")
            self.skip_space()
            self._put_inline(table, key, self.value())
            self._inside()
            if not self.looking_at("}"):
                self.take(",", "toml: expected , or } in an inline table")
                self._inside()
                if self.looking_at("}") and not self.dialect.toml_1_1:
                    raise self.error("trailing comma at the end of inline table")
        self.at += 1
        return table

    def _inside(self) -> None:
        if self.dialect.inline_over_lines:
            self.skip_blank()
        else:
            self.skip_space()

    def _put_inline(self, table: dict[str, Plain], key: Key, value: Plain) -> None:
        for part in key.parts[:-1]:
            child = table.setdefault(part, {})
            if not isinstance(child, dict) or isinstance(child, InlineTable):
                if self.dialect.replaces_maps:  # go-toml v1 sets each path anew
                    child = table[part] = {}
                    table = child
                    continue
                raise TomlError(
                    f"toml: expected {part} to be a table, not a value", key.line, key.column, structural=True
                )
            table = child
        if key.parts[-1] in table and not self.dialect.replaces_maps:
            raise TomlError(f"toml: key {key.parts[-1]} is already defined", key.line, key.column, structural=True)
        table[key.parts[-1]] = value

    def _date_or_number(self) -> Plain:
        start = self.at
        try:
            found = read_scalar(self.text, start, self.dialect)
        except ValueError as error:
            return self._unfit(self.error(f"toml: {error}"))
        if found is None:
            refusal = self.error(f"toml: expected a value, found {self.text[start : start + 8]!r}")
            if self.dialect.major == 2 and not self.dialect.toml_1_1 and _NUMBERLIKE.match(self.text, start):
                return self._unfit(refusal)  # before v2.4 the spelling, too, is only looked at where the value is used
            raise refusal
        value, self.at = found
        if type(value) is date and self.dialect.strict_date_end and self._no_space_follows():
            raise self.error("parsing error: incorrect date/time separation character: ")
        return value

    def _unfit(self, error: TomlError) -> Plain:
        if self.dialect.major == 1:
            raise error
        start = self.at
        self.at = _match(_WORD, self.text, start).end()
        value = Unfit(self.text[start : self.at])
        value.error = error
        return value

    def _no_space_follows(self) -> bool:
        return self.at < len(self.text) and self.text[self.at] != " "


def _match(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str]:
    match = pattern.match(text, at)
    assert match is not None  # the pattern matches the empty string
    return match


_BY_FIRST: dict[str, Callable[[Reader], Plain]] = {
    '"': Reader.string,
    "'": Reader.string,
    "t": Reader.boolean,
    "f": Reader.boolean,
    "[": Reader.array,
    "{": Reader.inline_table,
}
