"""Who acts on an XID: device plugins and agents differ, and a code that one takes a GPU away for another ignores."""

import re
from typing import Final

import msgspec

# k8s-device-plugin, internal/rm/health.go: "the GPU should still be healthy".
NVIDIA_PLUGIN_IGNORES: Final = frozenset((13, 31, 43, 45, 68, 109))
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


def nvidia_plugin_ignores(code: int, disable: str = "", enable: str = "") -> bool:
    """Whether NVIDIA's plugin leaves a device as it is, by its list and DP_DISABLE_/DP_ENABLE_HEALTHCHECKS.

    Its quirk is kept: with `all` or `xids` disabled, single codes that are enabled have no effect.
    """
    off, on = _words(disable), _words(enable)
    if "all" in on:
        return False
    if {"all", "xids"} & off:
        return True
    return str(code) not in on and (code in NVIDIA_PLUGIN_IGNORES or str(code) in off)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip() for word in text.lower().split(",") if word.strip())
