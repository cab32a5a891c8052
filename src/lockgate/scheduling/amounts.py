"""Which amounts of a container the API server refuses: parts of a device, a request without its limit or unlike it.

Source: kubernetes 1.37 pkg/apis/core/validation/validation.go, validateResourceRequirements and
ValidateResourceQuantityValue; IsExtendedResourceName of pkg/apis/core/helper.
"""

import enum
from collections.abc import Iterator
from decimal import Decimal

import msgspec

from lockgate.kit.quantity import parse_quantity
from lockgate.model.objects import Container
from lockgate.scheduling.requests import Quantity


class AmountFault(enum.StrEnum):
    """What is wrong with an amount, by the catalogue's code."""

    NO_LIMIT = "A04"
    UNLIKE_LIMIT = "A05"
    NOT_WHOLE = "A06"


MEANING = {
    AmountFault.NO_LIMIT: "a GPU is requested without a limit",
    AmountFault.UNLIKE_LIMIT: "request and limit of the GPU differ",
    AmountFault.NOT_WHOLE: "GPUs are asked for by whole numbers",
}


class RefusedAmount(msgspec.Struct, frozen=True, kw_only=True):
    """One resource of one container that no API server takes; `note` says what the container asks."""

    resource: str
    fault: AmountFault
    note: str


def refused_amounts(container: Container) -> Iterator[RefusedAmount]:
    """The device resources of a container whose amounts are refused; each with its first fault."""
    resources = container.resources
    for name in {**resources.requests, **resources.limits}:
        if is_device(name):
            yield from _refused(container.name, name, resources.requests.get(name), resources.limits.get(name))


def is_device(name: str) -> bool:
    """Whether a resource is counted whole and cannot be overcommitted, as every device of a plugin is."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def is_count(amount: Decimal) -> bool:
    """Whether an amount is one of devices: whole and not negative."""
    return amount >= 0 and amount == amount.to_integral_value()  # `% 1` fails on amounts of hundreds of digits


def _refused(container: str, name: str, asked: Quantity | None, limit: Quantity | None) -> Iterator[RefusedAmount]:
    if (fault := _fault(asked, limit)) is not None:
        yield RefusedAmount(resource=name, fault=fault, note=f"{container} {_note(fault, name, asked, limit)}")


def _fault(asked: Quantity | None, limit: Quantity | None) -> AmountFault | None:
    if any(amount is not None and not is_count(parse_quantity(amount)) for amount in (asked, limit)):
        return AmountFault.NOT_WHOLE
    if limit is None:
        return AmountFault.NO_LIMIT
    differ = asked is not None and parse_quantity(asked) != parse_quantity(limit)
    return AmountFault.UNLIKE_LIMIT if differ else None


def _note(fault: AmountFault, name: str, asked: Quantity | None, limit: Quantity | None) -> str:
    match fault:
        case AmountFault.NO_LIMIT:
            return f"requests {asked} of {name} and has no limit"
        case AmountFault.UNLIKE_LIMIT:
            return f"requests {asked} of {name}, its limit is {limit}"
        case AmountFault.NOT_WHOLE:
            told = (amount for amount in (asked, limit) if amount is not None)
            amount = next(amount for amount in told if not is_count(parse_quantity(amount)))
            return f"asks for {amount} of {name}"
