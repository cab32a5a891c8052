"""Who acts on an XID: device plugins and agents differ, and a code that one takes a GPU away for another ignores."""

import re
from functools import lru_cache
from typing import Final

import msgspec

# What a faulty program causes: "the GPU should still be healthy" (k8s-device-plugin, internal/rm/health.go). Ours too.
APPLICATION_XIDS: Final = frozenset((13, 31, 43, 45, 68, 109))
# After these Lockgate's plugin waits for a reset; after any other until the GPU has been quiet. Double-bit ECC,
# microcontroller halt, failed row remap, NVLink, off the bus, uncontained ECC, GSP, unrecovered ECC.
NEEDS_RESET: Final = frozenset((48, 62, 64, 74, 79, 95, 119, 120, 136, 140, 143))
# EKS node monitoring agent: hard-coded (failure catalogue 1.1).
EKS_ACTS_ON: Final = frozenset(
    (46, 48, 54, 62, 63, 64, 74, 79, 95, 109, 110, 119, 120, 136, 140, 142, 143, 151, 155, 156, 158)
)
# GKE's device plugin by default (container-engine-accelerators#497).
GKE_ACTS_ON: Final = frozenset((48,))


class Watcher(msgspec.Struct, frozen=True):
    """An agent that writes XIDs into a condition of the node; `sick` is the status with which it says so."""

    condition: re.Pattern[str]
    who: str
    sick: str
    codes: re.Pattern[str]  # finds every code in "reason: message"


WATCHERS: Final = (
    Watcher(
        re.compile("AcceleratedHardwareReady"), "EKS node monitoring agent", "False", re.compile(r"NvidiaXID(\d+)")
    ),
    Watcher(re.compile("XidCriticalError"), "GKE device plugin", "True", re.compile(r"\"(\d+)\"\s*:\s*true")),
    # NVSentinel and node-problem-detector are given conditions of many names; that they speak of an XID is said in it.
    Watcher(re.compile(r"\w*[Xx][Ii][Dd]\w*"), "", "True", re.compile(r"(?:ErrorCode:|[Xx][Ii][Dd][ :=]+)(\d+)")),
)


@lru_cache(maxsize=256)  # all nodes of a cluster have the same few
def watcher_of(condition: str) -> Watcher | None:
    """Who writes conditions of a type; None where no XIDs are in it."""
    return next((w for w in WATCHERS if w.condition.fullmatch(condition)), None)


def nvidia_plugin_ignores(code: int, disable: str = "", enable: str = "") -> bool:
    """Whether NVIDIA's plugin leaves a device as it is, by its list and DP_DISABLE_/DP_ENABLE_HEALTHCHECKS.

    Its quirk is kept: with `all` or `xids` disabled, single codes that are enabled have no effect.
    """
    off, on = _words(disable), _words(enable)
    if "all" in on:
        return False
    if {"all", "xids"} & off:
        return True
    return str(code) not in on and (code in APPLICATION_XIDS or str(code) in off)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.lower().split(",") if word.strip())


class Policy(msgspec.Struct, frozen=True):
    """What one agent does about a code by default."""

    who: str
    does: str


def by_default(code: int) -> tuple[Policy, ...]:
    """What each agent does about a code when nobody has configured it otherwise."""
    ignores = code in APPLICATION_XIDS
    waits = "until the GPU was reset" if code in NEEDS_RESET else "until the GPU has been quiet for a while"
    return (
        Policy(
            "NVIDIA's device plugin", "ignores it" if ignores else "takes the GPU away until the plugin is restarted"
        ),
        Policy("Lockgate's device plugin", "ignores it" if ignores else f"takes the GPU away {waits}"),
        Policy("EKS node monitoring agent", "marks the node" if code in EKS_ACTS_ON else "does nothing"),
        Policy("GKE's device plugin", "takes the GPU away" if code in GKE_ACTS_ON else "does nothing"),
    )
