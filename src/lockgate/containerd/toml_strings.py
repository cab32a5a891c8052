"""Strings of TOML in their four quotings, as each library reads them."""

from __future__ import annotations

import re

from lockgate.containerd.toml_dialect import Dialect

_LITERAL = re.compile(r"'([^'\n]*)'")
_LENIENT_LITERAL = re.compile(r"'([^']*)'")
_BASIC = re.compile(r'"((?:[^"\\\n]|\\[^\n])*)"')
_LENIENT_BASIC = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_BASIC_1 = re.compile(r'"((?:[^"\\\n]|\\[\r\n\t ]+|\\[^\n])*)"')
_LONG_LITERAL = re.compile(r"'''\r?\n?(.*?)'''('{0,2})", re.DOTALL)
_LONG_BASIC = re.compile(r'"""\r?\n?((?:[^\\]|\\.)*?)"""("{0,2})', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|([ \t]*\r?\n\s*)|(.))", re.DOTALL)
# go-toml v1 steps over any white space behind a backslash, in strings of one line as well
_ESCAPE_1 = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|([\r\n\t ]+)|(.))", re.DOTALL)
_SIMPLE = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\", "/": "/", "e": "\x1b"}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)")
_CONTROL_1 = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_REPLACEMENT = "\ufffd"


class StringError(ValueError):
    """A string that the dialect refuses, and where."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.message, self.at = message, at


def read_key(text: str, at: int, dialect: Dialect) -> tuple[str, int]:
    """The quoted key that starts at an offset, and the offset behind it; go-toml v1 lets one span lines."""
    if not dialect.lenient_strings or text.startswith("'", at):
        return read_string(text, at, dialect)
    match = _LENIENT_BASIC.match(text, at)
    if not match:
        raise StringError("unclosed string", at)
    return unescape(match.group(1), match.start(1), dialect), match.end()


def read_string(text: str, at: int, dialect: Dialect) -> tuple[str, int]:
    """The string that starts at an offset, and the offset behind it."""
    opening, pattern = _pattern(text, at, dialect)
    match = pattern.match(text, at)
    if not match:
        raise StringError("toml: unterminated string", at)
    extra = match.group(2) if len(opening) == 3 else ""
    if extra and dialect.lenient_strings:  # go-toml v1 ends a long string at the first three quotes
        raise StringError("unexpected token String", match.start(2))
    literal = opening[0] == "'"
    body = match.group(1) + extra
    control = _CONTROL_1 if dialect.lenient_strings else _CONTROL
    bad = None if literal and dialect.lenient_strings else control.search(body)
    if bad:
        raise StringError("toml: invalid character in string", match.start(1) + bad.start())
    return (body if literal else unescape(body, match.start(1), dialect)), match.end()


def _pattern(text: str, at: int, dialect: Dialect) -> tuple[str, re.Pattern[str]]:
    basic = _BASIC_1 if dialect.lenient_strings else _BASIC
    for opening, pattern in (('"""', _LONG_BASIC), ("'''", _LONG_LITERAL), ('"', basic)):
        if text.startswith(opening, at):
            return opening, pattern
    return "'", _LENIENT_LITERAL if dialect.lenient_strings else _LITERAL


def unescape(body: str, at: int, dialect: Dialect) -> str:
    """The body of a basic string with its escapes resolved; `at` is where it starts."""
    if "\\" not in body:
        return body

    def one(match: re.Match[str]) -> str:
        short, long, byte, newline, simple = match.groups()
        if newline is not None:
            return ""
        letter = simple or ("x" if byte else "u")
        if letter != "u" and letter not in dialect.escapes:
            raise StringError(f"toml: invalid escaped character {letter!r}", at + match.start())
        if simple in _SIMPLE:
            return _SIMPLE[simple]
        code = int(short or long or byte or "-1", 16)
        if 0 <= code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
            return chr(code)
        if dialect.lenient_strings and code >= 0:
            return _REPLACEMENT
        raise StringError("toml: invalid unicode escape", at + match.start())

    return (_ESCAPE_1 if dialect.lenient_strings else _ESCAPE).sub(one, body)
