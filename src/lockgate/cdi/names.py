"""The grammar of CDI names: vendor, class, device, and the qualified `vendor/class=device`.

Source: package `parser` of the reference library v1.1.2; texts are its own. It walks bytes at the ends of a name and
runes in its middle, so a character beyond ASCII is refused at either end or named in between.
"""

import string
from dataclasses import dataclass
from typing import Final

from lockgate.cdi.text import quote

_LETTERS: Final = frozenset(string.ascii_letters)
_ALPHANUMERIC: Final = frozenset(string.ascii_letters + string.digits)


class InvalidNameError(ValueError):
    """A name that the grammar refuses; the text is the reference library's."""


@dataclass(frozen=True, slots=True)
class Qualified:
    """A parsed qualified name."""

    vendor: str
    cls: str
    device: str

    @property
    def kind(self) -> str:
        return f"{self.vendor}/{self.cls}"

    @property
    def text(self) -> str:
        return f"{self.kind}={self.device}"


def parse_qualified(text: str) -> Qualified:
    """Split `vendor/class=device`. Raises InvalidNameError that says which part is missing or wrong."""
    vendor, cls, device = _split(text)
    for part, what in ((vendor, "vendor"), (cls, "class"), (device, "device name")):
        if not part:
            raise InvalidNameError(f"unqualified device {quote(text)}, missing {what}")
    try:
        check_vendor(vendor)
        check_class(cls)
        check_device(device)
    except InvalidNameError as error:
        raise InvalidNameError(f"invalid device {quote(text)}: {error}") from None
    return Qualified(vendor, cls, device)


def _split(text: str) -> tuple[str, str, str]:
    if text.startswith("/"):
        return "", "", text
    qualifier, _, device = text.partition("=")
    vendor, _, cls = qualifier.partition("/")
    return (vendor, cls, device) if vendor and cls and device else ("", "", text)


def check_vendor(name: str) -> None:
    """Raise InvalidNameError unless this is a vendor name."""
    _check_vendor_or_class(name, "vendor")


def check_class(name: str) -> None:
    """Raise InvalidNameError unless this is a class name."""
    _check_vendor_or_class(name, "class")


def _check_vendor_or_class(name: str, what: str) -> None:
    if not name:
        raise InvalidNameError(f"invalid {what}. empty name")
    if name[0] not in _LETTERS:
        raise InvalidNameError(f"invalid {what}. {quote(name)}, should start with letter")
    if bad := _bad_inside(name, "_-."):
        raise InvalidNameError(f"invalid {what}. invalid character '{bad}' in name {quote(name)}")
    if name[-1] not in _ALPHANUMERIC:
        raise InvalidNameError(f"invalid {what}. {quote(name)}, should end with a letter or digit")


def check_device(name: str) -> None:
    """Raise InvalidNameError unless this is a device name."""
    if not name:
        raise InvalidNameError("invalid (empty) device name")
    if name[0] not in _ALPHANUMERIC:
        raise InvalidNameError(f"invalid class {quote(name)}, should start with a letter or digit")
    if bad := _bad_inside(name, "_-.:"):
        raise InvalidNameError(f"invalid character '{bad}' in device name {quote(name)}")
    if name[-1] not in _ALPHANUMERIC:
        raise InvalidNameError(f"invalid name {quote(name)}, should end with a letter or digit")


def _bad_inside(name: str, extra: str) -> str:
    """The first character between the ends that may not be there, or ""."""
    inside = name.encode("utf-8", "surrogateescape")[1:-1].decode("utf-8", "replace")
    return next((char for char in inside if char not in _ALPHANUMERIC and char not in extra), "")
