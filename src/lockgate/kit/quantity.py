"""Kubernetes quantities, exact: `500m`, `1Gi`, `2`, `1e3` as integers or Decimals, never floats."""

import math
import re
from decimal import Decimal

_SUFFIX = {
    "": Decimal(1),
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "T": Decimal(10**12),
    "P": Decimal(10**15),
    "E": Decimal(10**18),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
    "Ti": Decimal(2**40),
    "Pi": Decimal(2**50),
    "Ei": Decimal(2**60),
}
_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d{1,3})|(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?)")


def parse_quantity(text: str | int | float) -> Decimal:
    """Read a quantity as the API server does; units are those of the resource (cores, bytes, devices).

    Raises ValueError for text that Kubernetes would refuse. Source: k8s.io/apimachinery/pkg/api/resource/quantity.go.
    """
    if isinstance(text, int | float):
        return Decimal(str(text))
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f'"{text}" is not a Kubernetes quantity (expected for example 1, 500m, 2Gi)')
    number, exponent, suffix = match.groups()
    if exponent:
        return Decimal(number).scaleb(int(exponent))
    return Decimal(number) * _SUFFIX[suffix or ""]


def whole(text: str | int | float) -> int:
    """A quantity as whole units, rounded up as the scheduler does: `1500m` is 2."""
    return math.ceil(parse_quantity(text))


def binary_size(count: int) -> str:
    """Bytes in the largest binary unit that keeps one decimal: 42949672960 is `40 GiB`."""
    size = Decimal(count)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(size) < 1024 or unit == "TiB":
            return f"{size.quantize(Decimal('0.1')).normalize():f} {unit}"
        size /= 1024
    raise AssertionError("unreachable")
