"""What other programs, and hands, do to objects: fields that lack, of another type, huge, or there twice."""

import json
import random
from collections.abc import Iterator
from typing import Any, Final

import yaml

SPLINTERS: Final[tuple[Any, ...]] = (
    None,
    "",
    "0",
    "-1",
    "9" * 400,
    "1e400",
    "nan",
    "\x00",
    "\x1b[31m",
    "ä" * 5000,
    "a/b/c=d,e=f",
    -(2**70),
    2**31,
    10**18,
    1.5,
    True,
    [],
    {},
    [[]],
    {"": ""},
    "2026-11-29T12:00:00Z",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
)
# What only text can say: a number that no float holds, nesting without end, half of a pair of surrogates.
_TEXTS: Final = ("1e99999", "-0", "[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900, '"\\ud800"', "1" * 4000)
_MARK: Final = "@spoilt@"


def spoil(objects: Any, dice: random.Random) -> None:
    """Change a few places of a value, below its outermost containers."""
    places = list(_places(objects))
    for _ in range(dice.randint(1, 6) if places else 0):
        holder, key = dice.choice(places)
        if holder is objects or (isinstance(holder, list) and key >= len(holder)) or key not in _keys(holder):
            continue
        if dice.random() < 0.4:
            del holder[key]
        elif isinstance(holder[key], list) and dice.random() < 0.3:
            holder[key] = holder[key] * 50
        else:
            holder[key] = dice.choice(SPLINTERS)


def spoilt_document(path: str, data: bytes, dice: random.Random) -> bytes:
    """A file of JSON or YAML with its objects spoilt; any other as it is."""
    try:
        value = json.loads(data) if data[:1] in (b"{", b"[") else yaml.load(data, Loader=yaml.CSafeLoader)
        return _spoilt(path, value, dice) if isinstance(value, dict | list) else data
    except (ValueError, yaml.YAMLError, RecursionError, MemoryError):
        return data


def _spoilt(path: str, value: Any, dice: random.Random) -> bytes:
    spoil([value], dice)
    if dice.random() < 0.2:
        _mark(value, dice)
    if not path.endswith((".yaml", ".yml")) or dice.random() < 0.2:
        return _written(value, dice)
    return yaml.safe_dump(value, allow_unicode=True).encode("utf-8", "replace")


def _mark(value: Any, dice: random.Random) -> None:
    places = list(_places(value))
    if places:
        holder, key = dice.choice(places)
        holder[key] = _MARK


def _written(value: Any, dice: random.Random) -> bytes:
    text = json.dumps(value, indent=dice.choice((None, None, 4)), default=str).replace(
        f'"{_MARK}"', dice.choice(_TEXTS)
    )
    if dice.random() < 0.2:  # the same key twice: each reader takes another one
        key = dice.choice(('"metadata":', '"spec":', '"name":', '"items":', '"kind":'))
        other = dice.choice(("{}", "null", "[]", '"x"'))
        text = text.replace(key, f"{key} {other}, {key}", 1)
    return text.encode()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container below a value with each of its keys."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield value, key
        yield from _places(child)


def _keys(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))
