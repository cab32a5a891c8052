"""What an unquoted YAML scalar means to Go's yaml.v3: null, boolean, number, moment or text.

Source: `resolve.go` of go.yaml.in/yaml/v3 v3.0.5. It differs from YAML 1.1 (`yes` is text) and 1.2 (`0777` is octal).
"""

import re
from typing import Final, TypeAlias

from lockgate.cdi.nodes import Scalar

Value: TypeAlias = bool | int | float | str | None


class TagError(ValueError):
    """A written tag that the text does not fit."""


_WORDS: Final[dict[str, tuple[str, Value]]] = {
    **dict.fromkeys(("true", "True", "TRUE"), ("!!bool", True)),
    **dict.fromkeys(("false", "False", "FALSE"), ("!!bool", False)),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), ("!!null", None)),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), ("!!float", float("nan"))),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), ("!!float", float("inf"))),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), ("!!float", float("-inf"))),
    "<<": ("!!merge", "<<"),
}
_RESOLVABLE: Final = ("", "!!str", "!!bool", "!!int", "!!float", "!!null", "!!timestamp")
_DECIMAL: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_PREFIXED: Final = re.compile(r"([-+]?)0(?:([xX])([0-9a-fA-F]+)|([bB])([01]+)|[oO]?([0-7]+))")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_MOMENT: Final = re.compile(
    r"[0-9]{4}-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12][0-9]|3[01])"
    r"(?:[Tt ](?:[01]?[0-9]|2[0-3]):[0-5]?[0-9]:[0-5]?[0-9](?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?"
)


def resolve_scalar(scalar: Scalar) -> tuple[str, Value]:
    """(tag, value) of a scalar. Raises TagError when it does not fit the tag that is written."""
    if not scalar.plain and scalar.tag in ("", "!!str"):
        return "!!str", scalar.value
    if scalar.tag not in _RESOLVABLE:
        return scalar.tag, scalar.value
    if scalar.tag == "!!str":
        return "!!str", scalar.value
    tag, value = _guess(scalar.value, moments=scalar.tag in ("", "!!timestamp"))
    if scalar.tag in ("", tag):
        return tag, value
    if scalar.tag == "!!float" and tag == "!!int" and isinstance(value, int):
        return "!!float", float(value)
    raise TagError(f"cannot decode {tag} `{scalar.value}` as a {scalar.tag}")


def _guess(text: str, *, moments: bool) -> tuple[str, Value]:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] == "." and _FLOAT.fullmatch(text):
        return "!!float", float(text)
    if text[0] not in "+-0123456789":
        return "!!str", text
    if moments and _MOMENT.fullmatch(text):
        return "!!timestamp", text
    plain = text.replace("_", "")
    number = _integer(plain)
    if number is not None:
        return "!!int", number
    return ("!!float", float(plain)) if _FLOAT.fullmatch(plain) else ("!!str", text)


def _integer(text: str) -> int | None:
    """As strconv.ParseInt with base 0 (`0x1f`, `0b101`, `0o17`, `017`), else None; 64 bits, signed or not."""
    if _DECIMAL.fullmatch(text):
        value = int(text)
    elif match := _PREFIXED.fullmatch(text):
        sign, _, hexadecimal, _, binary, octal = match.groups()
        value = int(hexadecimal or binary or octal, 16 if hexadecimal else 2 if binary else 8)
        value = -value if sign == "-" else value
    else:
        return None
    return value if -(2**63) <= value < (2**63 if text[0] == "+" else 2**64) else None
