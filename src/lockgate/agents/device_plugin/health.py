"""Whether a device may be handed out: what makes it unhealthy, and what makes it healthy again.

NVIDIA's plugin never lets a device return (k8s-device-plugin#1014, #189, #403). Here:

| seen | the device is unhealthy until |
| --- | --- |
| XID of an application (13, 31, 43, 45, 68, 109; configurable) | it stays healthy |
| XID after which NVIDIA asks for a reset (`NEEDS_RESET`) | the GPU was away afterwards and answers again |
| any other XID | `quiet` seconds without another one, or the GPU was away and answers again |
| the GPU is lost, asks for a reset, or the driver is gone ("away") | it answers again |

"Answers again" is `good_probes` looks in a row. An XID of a MIG instance concerns that MIG device, one of a whole GPU
every device on it; one whose GPU cannot be told concerns all devices.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from lockgate.agents.device_plugin.devices import PluginDevice
from lockgate.gpu.values import Snapshot, XidEvent, known
from lockgate.xid.policies import APPLICATION_XIDS, NEEDS_RESET

# What the driver asks for (nvmlDeviceGetFieldValues, recovery action) that forbids new work on the GPU.
_ACTIONS: Final = {
    1: "a GPU reset",
    2: "a reboot of the node",
    4: "draining and a reset",
    6: "a bus reset",
    7: "a reboot of the system",
}


_EVERY_XID: Final = frozenset(range(1, 1000))


class Policy(msgspec.Struct, frozen=True):
    """What counts. `quiet` in seconds; `probing` off: a GPU that does not answer stays as it was."""

    ignored: frozenset[int] = APPLICATION_XIDS
    xids: bool = True
    probing: bool = True
    quiet: float = 60.0
    good_probes: int = 3


class Sickness(msgspec.Struct, frozen=True):
    """Why one device is unhealthy. `xid_at` and `since` are the clock's seconds; `away` is empty while it answers."""

    since: float
    xid: int | None = None
    xid_at: float = 0.0
    away: str = ""
    was_away: bool = False  # since the last XID
    good: int = 0

    @property
    def reason(self) -> str:
        """For a person: what was seen and what it takes."""
        if self.away:
            return self.away if self.xid is None else f"{self.away}, after XID {self.xid}"
        if self.xid is None:
            return "answers again, is being watched"
        takes = "needs a GPU reset" if self.xid in NEEDS_RESET else "waiting until it stays quiet"
        return f"XID {self.xid}: {'answers again, is being watched' if self.was_away else takes}"


Health = Mapping[str, Sickness]
"""Device id -> why it is unhealthy; a device that is not in it is healthy."""


def parse_policy(disable: str, enable: str) -> tuple[Policy, tuple[str, ...]]:
    """Read DP_DISABLE_HEALTHCHECKS and DP_ENABLE_HEALTHCHECKS; returns warnings on words that mean nothing.

    `all` or `xids` disables; numbers are XIDs to ignore. Enabled numbers win over everything; `all` enables all XIDs.
    Unlike NVIDIA's plugin, numbers enabled beside `DISABLE=all` do count, as its documentation says.
    """
    off, ignore, unread_off = _words(disable)
    on, count, unread_on = _words(enable)
    if "all" in on:
        policy = Policy(ignored=frozenset())
    else:
        ignored = (_EVERY_XID if off else APPLICATION_XIDS | ignore) - count
        policy = Policy(ignored=ignored, xids=ignored != _EVERY_XID, probing="all" not in off)
    warnings = tuple(
        f"{name}: {word!r} is neither a number nor all or xids, and is ignored"
        for name, words in (("DP_DISABLE_HEALTHCHECKS", unread_off), ("DP_ENABLE_HEALTHCHECKS", unread_on))
        for word in words
    )
    return policy, warnings


def _words(text: str) -> tuple[frozenset[str], frozenset[int], tuple[str, ...]]:
    words = [word.strip() for word in text.lower().split(",") if word.strip()]
    switches = frozenset(word for word in words if word in ("all", "xids"))
    numbers = frozenset(int(word) for word in words if word.isdecimal())
    return switches, numbers, tuple(word for word in words if word not in switches and not word.isdecimal())


def after_xid(health: Health, event: XidEvent, devices: Iterable[PluginDevice], policy: Policy, now: float) -> Health:
    """The health after the driver reported an XID."""
    if not policy.xids or event.code in policy.ignored:
        return health
    struck = {device.id: _struck(health.get(device.id), event.code, now) for device in devices if _hits(event, device)}
    return {**health, **struck}


def _hits(event: XidEvent, device: PluginDevice) -> bool:
    if event.uuid not in ("", device.gpu):
        return False
    if event.gpu_instance is None or device.gpu_instance is None:
        return True
    same_compute = event.compute_instance in (None, device.compute_instance)
    return event.gpu_instance == device.gpu_instance and same_compute


def _struck(old: Sickness | None, code: int, now: float) -> Sickness:
    """A reset that an earlier XID needs is not made unneeded by a later, lesser one."""
    old = old or Sickness(since=now)
    still = old.xid if old.xid in NEEDS_RESET and code not in NEEDS_RESET and not old.was_away else code
    return msgspec.structs.replace(old, xid=still, xid_at=now, was_away=bool(old.away), good=0)


def after_probe(
    health: Health, seen: Snapshot | str, devices: Iterable[PluginDevice], policy: Policy, now: float
) -> Health:
    """The health after one look at all GPUs; a text instead of a snapshot: the driver did not answer, and why."""
    changed = {}
    for device in devices:
        away = _away(seen, device) if policy.probing or device.id in health else ""
        sickness = _probed(health.get(device.id), away, policy, now)
        if sickness is not None:
            changed[device.id] = sickness
    return changed


def _away(seen: Snapshot | str, device: PluginDevice) -> str:
    """Why the device's GPU cannot be used now; empty when it can."""
    if isinstance(seen, str):
        return seen
    gpu = next((gpu for gpu in seen.gpus if gpu.uuid == device.gpu), None)
    if gpu is not None:
        asked = _ACTIONS.get(known(gpu.recovery_action, 0))
        return f"the driver asks for {asked}" if asked else ""
    for lost in seen.unreadable:
        if str(lost.index) == device.gpu_index:
            return lost.why.said
    return seen.unreadable[0].why.said if seen.unreadable else "the driver no longer lists this GPU"


def _probed(old: Sickness | None, away: str, policy: Policy, now: float) -> Sickness | None:
    if away:
        return msgspec.structs.replace(old or Sickness(since=now), away=away, was_away=True, good=0)
    if old is None:
        return None
    seen = msgspec.structs.replace(old, away="", good=old.good + 1)
    return None if seen.good >= policy.good_probes and _over(seen, policy, now) else seen


def _over(sickness: Sickness, policy: Policy, now: float) -> bool:
    """Whether nothing but good answers is left to wait for."""
    if sickness.xid is None or sickness.was_away:
        return True
    return sickness.xid not in NEEDS_RESET and now - sickness.xid_at >= policy.quiet
