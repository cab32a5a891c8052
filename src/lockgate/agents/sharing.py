"""Time-slicing as NVIDIA's device plugin configuration describes it: replicas, renaming, one device a request.

Source: k8s-device-plugin 0.20, `sharing.timeSlicing` of the configuration file, version v1.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from lockgate.agents.options import SettingsError

PREFIX: Final = "nvidia.com/"


class Replicated(msgspec.Struct, frozen=True):
    """A resource of which each device is advertised `replicas` times, under the name `advertised`."""

    replicas: int
    advertised: str


class Sharing(msgspec.Struct, frozen=True):
    """What is shared: original resource name -> how. `strategy` is none or time-slicing."""

    resources: dict[str, Replicated] = {}
    one_per_request: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def strategy(self) -> str:
        """The word of the label `nvidia.com/gpu.sharing-strategy`."""
        return "time-slicing" if self.resources else "none"

    def of(self, resource: str) -> Replicated:
        """How a resource is shared; one replica under its own name when it is not."""
        return self.resources.get(resource, Replicated(1, resource))


def parse_sharing(file: Mapping[str, Any]) -> Sharing:
    """Read the `sharing` block of a configuration file; raises SettingsError in NVIDIA's words where it has them."""
    block = _mapping(file.get("sharing"), "sharing")
    if block.get("mps"):
        raise SettingsError("sharing.mps: MPS is not served by this device plugin; use sharing.timeSlicing")
    if "timeSlicing" not in block:
        return Sharing()
    return _parse_time_slicing(_mapping(block["timeSlicing"], "sharing.timeSlicing"))


def _parse_time_slicing(block: Mapping[str, Any]) -> Sharing:
    entries = block.get("resources")
    if not isinstance(entries, list) or not entries:
        raise SettingsError("sharing.timeSlicing.resources: no resources specified")
    rename = bool(block.get("renameByDefault", False))
    resources: dict[str, Replicated] = {}
    warnings: list[str] = []
    for place, entry in enumerate(entries):
        name, how = _parse_entry(_mapping(entry, f"sharing.timeSlicing.resources[{place}]"), place, rename, warnings)
        resources.setdefault(name, how)
    return Sharing(resources, bool(block.get("failRequestsGreaterThanOne", False)), tuple(warnings))


def _parse_entry(entry: Mapping[str, Any], place: int, rename: bool, warnings: list[str]) -> tuple[str, Replicated]:
    where = f"sharing.timeSlicing.resources[{place}]"
    name, replicas = _resource_name(entry.get("name"), where), entry.get("replicas")
    if replicas is None:
        raise SettingsError(f"{where}: no replicas specified")
    if not isinstance(replicas, int) or isinstance(replicas, bool) or replicas < 2:
        raise SettingsError(f"{where}.replicas: {replicas!r}: number of replicas must be >= 2")
    default = f"{name}.shared" if rename else name
    if entry.get("rename") and _resource_name(entry["rename"], where) != default:
        warnings.append(f"{where}.rename: {entry['rename']!r} is not used: the resource is advertised as {default}")
    if entry.get("devices", "all") != "all":
        warnings.append(f"{where}.devices: a choice of devices is not used: all devices are shared")
    return name, Replicated(replicas, default)


def _resource_name(name: object, where: str) -> str:
    if not isinstance(name, str) or not name:
        raise SettingsError(f"{where}: no resource name specified")
    full = name if name.startswith(PREFIX) else PREFIX + name
    if len(full) > 63:
        raise SettingsError(f"{where}: resource name {full!r} is longer than 63 characters")
    return full


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SettingsError(f"{where}: expected an object, found {type(value).__name__}")
    return value
