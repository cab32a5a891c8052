"""The line protocol between the driver libraries and the simulator.

Request: `<function> <argument>...\\n`. Reply: `<return code> <value>...\\n`. A token is a decimal integer, `'` and text
with everything but letters, digits and `._-:/` written as %XX, or `@` and an object: `@<gpu>` a GPU, `@<gpu>/<gi>` a
GPU instance, `@<gpu>/<gi>/<ci>` a compute instance or the MIG device on it. A line is at most LINE_LIMIT bytes.

The first request of a connection greets:
`hello <protocol> <0 for NVML, 1 for CUDA> '<library version> '<minors> ['<CUDA_VISIBLE_DEVICES>]`, the minors being
those, separated by commas, whose device nodes the process can open.
"""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote, unquote

PROTOCOL: Final = 1
LINE_LIMIT: Final = 65536

_FUNCTION: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}")
_INTEGER: Final = re.compile(r"-?[0-9]{1,20}")
_OBJECT: Final = re.compile(r"@[0-9]{1,4}(?:/[0-9]{1,4}){0,2}")


class Object(tuple[int, ...]):
    """A device or instance: minor number, then GPU instance id, then compute instance id."""

    __slots__ = ()


Token = int | str | Object


class MalformedError(ValueError):
    """A line that is not of this protocol."""


def parse_request(line: bytes) -> tuple[str, tuple[Token, ...]]:
    """The function and its arguments."""
    try:
        words = line.decode("ascii").split()
    except UnicodeDecodeError as error:
        raise MalformedError("not ASCII") from error
    if not words or not _FUNCTION.fullmatch(words[0]):
        raise MalformedError("no function name")
    return words[0], tuple(_parse_token(word) for word in words[1:])


def _parse_token(word: str) -> Token:
    if word[0] == "'":
        return unquote(word[1:])
    if _OBJECT.fullmatch(word):
        return Object(int(part) for part in word[1:].split("/"))
    if _INTEGER.fullmatch(word):
        return int(word)
    raise MalformedError(f"no token: {word[:40]!r}")


def render_reply(code: int, values: Iterable[Token] = ()) -> bytes:
    """One reply line."""
    return (" ".join([str(int(code)), *(_render_token(value) for value in values)]) + "\n").encode("ascii")


def _render_token(value: Token) -> str:
    match value:
        case Object():
            return "@" + "/".join(str(part) for part in value)
        case str():
            return "'" + quote(value, safe="._-:/")
        case int():
            return str(int(value))
