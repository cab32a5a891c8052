"""What the kubelet wrote when it refused a pod's devices, as typed values; a row a text.

The texts are those of pod.status.reason and pod.status.message (kubelet 1.18 to 1.37). One that no row matches is
`OtherRefusal` with its words, so that nothing is lost.
"""

import re
from collections.abc import Callable
from typing import Final

import msgspec


class Refusal(msgspec.Struct, frozen=True):
    """A refusal at admission; `resource` is empty where the text names none."""

    resource: str = ""


class CountChanged(Refusal, frozen=True):
    """A container's request changed while its devices were recorded."""

    before: int = 0
    after: int = 0


class Unregistered(Refusal, frozen=True):
    """The kubelet has forgotten the resource (its plugin went more than five minutes ago), but pods still hold devices
    of it."""


class NoneHealthy(Refusal, frozen=True):
    """Every device is unhealthy, or the plugin went away, or the kubelet started again and the plugin has not yet."""


class RecordedUnhealthy(Refusal, frozen=True):
    """The devices recorded for this container are no longer healthy (a restarted pod or kubelet)."""


class TooFewFree(Refusal, frozen=True):
    """Healthy devices exist, but too few are free on this node."""

    requested: int = 0
    available: int = 0


class ShortAnswer(Refusal, frozen=True):
    """Fewer devices came out than were asked for."""

    requested: int = 0
    got: int = 0


class UnknownPlugin(Refusal, frozen=True):
    """The kubelet has devices of the resource, but no endpoint."""


class EndpointStopped(Refusal, frozen=True):
    """The plugin's endpoint has been stopped: it crashed, or is being replaced."""


class PluginFailed(Refusal, frozen=True):
    """A call to the plugin failed: `call` is Allocate, GetPreferredAllocation or PreStartContainer."""

    call: str = ""
    error: str = ""


class OutOf(Refusal, frozen=True):
    """The kubelet's own fit check: the node has too little for what already runs there."""

    requested: int = 0
    used: int = 0
    capacity: int = 0


class TopologyRefused(Refusal, frozen=True):
    """The topology manager found no placement on one NUMA node."""


class OtherRefusal(Refusal, frozen=True):
    """A refusal in words that are not known here."""

    text: str = ""


_FAILED: Final = re.compile(
    r"(?:Pod was rejected: |Pod )?(?:Allocate|Update plugin resources) failed due to (?P<cause>.*?)"
    r"(?:, which is unexpected\.?)?",
    re.DOTALL,
)
_R: Final = r"(?P<resource>[^\s,.][^\s,]*?)"
_Make = Callable[[re.Match[str]], Refusal]


def _named(kind: type[Refusal], *numbers: str) -> _Make:
    """A row that fills `resource` and these numbers from the groups of the same name."""

    def make(match: re.Match[str]) -> Refusal:
        values = {name: int(match[name]) for name in numbers}
        return kind(match["resource"], **values)

    return make


_CAUSES: Final[tuple[tuple[re.Pattern[str], _Make], ...]] = (
    (
        re.compile(
            rf'pod "[^"]*" container "[^"]*" changed request for resource "{_R}" from (?P<before>\d+) to (?P<after>\d+)'
        ),
        _named(CountChanged, "before", "after"),
    ),
    (re.compile(rf"cannot allocate unregistered device {_R}"), _named(Unregistered)),
    (
        re.compile(rf"no healthy devices present; cannot allocate unhealthy devices {_R}"),
        _named(NoneHealthy),
    ),
    (
        re.compile(rf"previously allocated devices are no longer healthy; cannot allocate unhealthy devices {_R}"),
        _named(RecordedUnhealthy),
    ),
    (
        re.compile(
            rf"requested number of devices unavailable for {_R}\. Requested: (?P<requested>\d+), "
            r"Available: (?P<available>\d+)"
        ),
        _named(TooFewFree, "requested", "available"),
    ),
    (
        re.compile(
            r"unexpectedly allocated less resources than required\. Requested: (?P<requested>\d+), Got: (?P<got>\d+)"
        ),
        lambda match: ShortAnswer("", int(match["requested"]), int(match["got"])),
    ),
    (re.compile(rf"unknown Device Plugin {_R}"), _named(UnknownPlugin)),
    (re.compile(r"endpoint .* has been stopped", re.DOTALL), lambda match: EndpointStopped()),
    (
        re.compile(r"device plugin (?P<call>\w+) rpc failed with err: (?P<error>.*)", re.DOTALL),
        lambda match: PluginFailed("", match["call"], match["error"]),
    ),
    (re.compile(r"rpc error: (?P<error>.*)", re.DOTALL), lambda match: PluginFailed("", "Allocate", match["error"])),
)
_OUT_OF: Final = re.compile(
    r"(?:Pod was rejected: )?Node didn't have enough resource: (?P<resource>\S+), requested: (?P<requested>\d+), "
    r"used: (?P<used>\d+), capacity: (?P<capacity>\d+)"
)


def parse_refusal(reason: str, message: str) -> Refusal | None:
    """The refusal behind a failed pod's status; None when its reason is not one of admission."""
    if reason == "UnexpectedAdmissionError":
        return _parse_cause(message)
    if reason == "TopologyAffinityError":
        return TopologyRefused()
    if reason.startswith("OutOf"):
        match = _OUT_OF.match(message)
        if match is None:
            return OutOf(reason.removeprefix("OutOf"))
        return _named(OutOf, "requested", "used", "capacity")(match)
    return None


def _parse_cause(message: str) -> Refusal:
    failed = _FAILED.fullmatch(message.strip())
    cause = failed["cause"] if failed else message.strip()
    for pattern, make in _CAUSES:
        match = pattern.fullmatch(cause)
        if match is not None:
            return make(match)
    return OtherRefusal("", cause)
