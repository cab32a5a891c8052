"""What disks, editors and senders do to bytes: cut, flipped, doubled, in another encoding, with splinters."""

import random
from collections.abc import Callable
from typing import Final

# What editors, terminals and people put in the wrong place.
SPLINTERS: Final = (
    b"",
    b"null",
    b"[]",
    b"{}",
    b'"',
    b"\\",
    b"\0",
    b"\xff",
    b"1e999",
    b"-1",
    b"9" * 5000,
    b"NaN",
    b"true",
    b"\n",
    b"\r",
    b":",
    b"\t",
    b'"two"',
    b"\x1b[2J",
    b"\xc2\x9b31m",
    b"\\ud800",
    b"&a *a",
    b"&a [*a]",
    b"!!python/object:os.system x",
    b"!!binary aGk=",
    b"<<: *a",
    b"%YAML 9.9\n---\n",
    b"---\n",
    b"...\n",
    b"> ",
    b"```\n",
    b"[" * 3000,
    b'{"a":' * 3000,
    b"a = " + b"[" * 3000,
)


def mutated(data: bytes, dice: random.Random) -> bytes:
    """The data with a few pieces cut, doubled or replaced."""
    for _ in range(dice.randint(1, 4)):
        at, length = dice.randrange(len(data) + 1), dice.choice((1, 1, 2, 8, 200))
        piece = dice.choice((*SPLINTERS, data[at : at + length] * 2))
        data = data[:at] + piece + data[at + length :]
    return data


def _cut(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def _half_written(data: bytes, dice: random.Random) -> bytes:
    """What a file system shows after a crash: the size is right, the end is zero."""
    at = dice.randrange(len(data) + 1)
    return data[:at] + b"\0" * (len(data) - at)


def _flipped(data: bytes, dice: random.Random) -> bytes:
    spoilt = bytearray(data)
    for _ in range(dice.randint(1, 8)):
        if spoilt:
            spoilt[dice.randrange(len(spoilt))] ^= 1 << dice.randrange(8)
    return bytes(spoilt)


def _again(data: bytes, dice: random.Random) -> bytes:
    return (
        data + dice.choice((b"", b"\n", b"\n---\n")) + data[: dice.choice((len(data), dice.randrange(len(data) + 1)))]
    )


def _in(*encodings: str) -> Callable[[bytes, random.Random], bytes]:
    def encoded(data: bytes, dice: random.Random) -> bytes:
        text = data.decode("utf-8", "replace").replace("train", "trän", dice.randint(0, 1))
        return text.encode(dice.choice(encodings), "replace")

    return encoded


def _lines_shuffled(data: bytes, dice: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at = dice.randrange(len(lines) + 1)
    few = lines[at : at + 20]
    dice.shuffle(few)
    return b"".join([*lines[:at], *few, *lines[at + 20 :]])


def _line_many_times(data: bytes, dice: random.Random) -> bytes:
    lines = data.splitlines(keepends=True)
    at = dice.randrange(len(lines) + 1)
    line = lines[at : at + 1]
    times = min(2000, (4 << 20) // (len(b"".join(line)) + 1))
    return b"".join([*lines[:at], *(line * times), *lines[at:]])


# Each spoils the bytes of one file.
OF_BYTES: Final[tuple[Callable[[bytes, random.Random], bytes], ...]] = (
    mutated,
    mutated,
    mutated,
    _cut,
    _half_written,
    _flipped,
    _again,
    _in("utf-16", "utf-16-be", "utf-16-le", "utf-8-sig", "utf-32"),
    _in("latin-1", "cp1252", "cp437", "ascii", "utf-7"),
    _lines_shuffled,
    _line_many_times,
    lambda data, dice: b"",
    lambda data, dice: dice.randbytes(dice.choice((1, 20, 200))),
    lambda data, dice: b"\0" * dice.choice((1, 511, 512, 513, 70_000)),
    lambda data, dice: data.replace(b"\n", dice.choice((b"\r\n", b"\r", b"\n\n", b""))),
    lambda data, dice: dice.choice((b" ", b"\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\0")) * dice.choice((1, 3)) + data,
    lambda data, dice: data.replace(b" ", b"\xc2\xa0"),
    lambda data, dice: data.replace(b"  ", b"\t"),
)
