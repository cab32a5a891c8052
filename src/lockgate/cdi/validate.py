"""What makes a document valid. Order and texts are the reference library's (v1.1.2, `Spec.validate`).

Annotations are *not* checked: the library means to, but its check expects another Go type and passes everything.
"""

import re
from collections.abc import Iterable
from typing import Final

from lockgate.cdi.names import InvalidNameError, check_class, check_device, check_vendor
from lockgate.cdi.spec import VERSIONS, Device, DeviceNode, Edits, Hook, IntelRdt, Mount, NetDevice, Spec
from lockgate.cdi.text import quote
from lockgate.cdi.version import edits_looked_at, enforced_version, starts_with_digit

HOOK_NAMES: Final = ("prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop")
_NODE_TYPES: Final = ("", "b", "c", "u", "p")
_PERMISSIONS: Final = re.compile(r"[rwm]*|none")


class InvalidSpecError(ValueError):
    """A rule that a document breaks, in the reference library's words."""


class CrashingSpecError(InvalidSpecError):
    """A document on which the reference library (v1.1.2 and before) and the process around it crash."""


def check_spec(spec: Spec) -> None:
    """Raise InvalidSpecError for the first rule that the document breaks."""
    _check_version(spec)
    try:
        check_vendor(spec.vendor)
        check_class(spec.cls)
    except InvalidNameError as error:
        raise InvalidSpecError(str(error)) from None
    _check_edits(spec.container_edits)
    seen: set[str] = set()
    for device in spec.devices:
        _check_device(device)
        if device.name in seen:
            raise InvalidSpecError(f"invalid spec, multiple device {quote(device.name)}")
        seen.add(device.name)
    if not seen:
        raise InvalidSpecError("invalid spec, no devices")


def _check_version(spec: Spec) -> None:
    version = spec.cdi_version.removeprefix("v")
    if version not in VERSIONS:
        raise InvalidSpecError(f"invalid version {quote(spec.cdi_version)}")
    lowest = enforced_version(spec)
    _check_nulls(spec, lowest)
    if VERSIONS.index(version) < VERSIONS.index(lowest):
        raise InvalidSpecError(f"the spec version must be at least v{lowest}")


def _check_nulls(spec: Spec, lowest: str) -> None:
    """Looking for the lowest version, the library follows null nodes and mounts until a higher need ends its search."""
    if VERSIONS.index(lowest) >= VERSIONS.index("0.6.0") or any(starts_with_digit(d.name) for d in spec.devices):
        return
    edits = edits_looked_at(spec)
    for items, stop in ((_flat(e.device_nodes for e in edits), "host_path"), (_flat(e.mounts for e in edits), "type")):
        for item in items:
            if item is None:
                raise CrashingSpecError("null in deviceNodes or mounts: the CDI library crashes on it")
            if getattr(item, stop):
                return


def _flat(lists: Iterable[tuple[DeviceNode | None, ...] | tuple[Mount | None, ...]]) -> list[DeviceNode | Mount | None]:
    return [item for items in lists for item in items]


def _check_device(device: Device) -> None:
    try:
        check_device(device.name)
        if device.container_edits.is_empty:
            raise InvalidSpecError("invalid device, empty device edits")
        try:
            _check_edits(device.container_edits)
        except InvalidSpecError as error:
            raise InvalidSpecError(f"invalid device {quote(device.name)}: {error}") from None
    except (InvalidNameError, InvalidSpecError) as error:
        raise InvalidSpecError(f"failed add device {quote(device.name)}: {error}") from None


def _check_edits(edits: Edits) -> None:
    try:
        _check_env(edits.env)
    except InvalidSpecError as error:
        raise InvalidSpecError(f"invalid container edits: {error}") from None
    for node in edits.device_nodes:
        _check_node(node)
    for hook in edits.hooks:
        _check_hook(hook)
    for mount in edits.mounts:
        _check_mount(mount)
    if edits.intel_rdt is not None:
        _check_rdt(edits.intel_rdt)
    _check_net_devices(edits.net_devices)


def _check_env(env: Iterable[str]) -> None:
    for entry in env:
        if entry.find("=") <= 0:
            raise InvalidSpecError(f"invalid environment variable {quote(entry)}")


def _check_node(node: DeviceNode | None) -> None:
    if node is None:
        raise InvalidSpecError("invalid (nil) device node")
    if not node.path:
        raise InvalidSpecError("invalid (empty) device path")
    if node.type not in _NODE_TYPES:
        raise InvalidSpecError(f"device {quote(node.path)}: invalid type {quote(node.type)}")
    if node.major < 0 or node.minor < 0:
        numbers = f"{node.major}:{node.minor}"
        raise InvalidSpecError(f"device {quote(node.path)}: invalid (negative) device number {numbers}")
    if not _PERMISSIONS.fullmatch(node.permissions):
        raise InvalidSpecError(f"device {quote(node.path)}: invalid permissions {quote(node.permissions)}")


def _check_hook(hook: Hook | None) -> None:
    if hook is None:
        raise InvalidSpecError("invalid (nil) hook")
    if hook.hook_name not in HOOK_NAMES:
        raise InvalidSpecError(f"invalid hook name {quote(hook.hook_name)}")
    if not hook.path:
        raise InvalidSpecError(f"invalid hook {quote(hook.hook_name)} with empty path")
    try:
        _check_env(hook.env)
    except InvalidSpecError as error:
        raise InvalidSpecError(f"invalid hook {quote(hook.hook_name)}: {error}") from None


def _check_mount(mount: Mount | None) -> None:
    if mount is None:
        raise InvalidSpecError("invalid (nil) mount")
    if not mount.host_path:
        raise InvalidSpecError("invalid mount, empty host path")
    if not mount.container_path:
        raise InvalidSpecError("invalid mount, empty container path")


def _check_rdt(rdt: IntelRdt) -> None:
    clos = rdt.clos_id
    too_long = len(clos.encode("utf-8", "surrogateescape")) >= 4096
    if clos != "/" and (too_long or clos in (".", "..") or "/" in clos or "\n" in clos):
        raise InvalidSpecError("invalid ClosID")


def _check_net_devices(devices: Iterable[NetDevice | None]) -> None:
    hosts: dict[str, str] = {}
    names: dict[str, str] = {}
    for device in devices:
        if device is None:
            raise InvalidSpecError("invalid (nil) linux net device")
        host, name = device.host_interface_name, device.name
        if not host:
            raise InvalidSpecError("invalid linux net device, empty HostInterfaceName")
        if not name:
            raise InvalidSpecError("invalid linux net device, empty Name")
        if host in hosts:
            others = f"with names {quote(name)} and {quote(hosts[host])}"
            raise InvalidSpecError(f"invalid linux net device, duplicate HostInterfaceName {quote(host)} {others}")
        if name in names:
            others = f"with HostInterfaceName {quote(host)} and {quote(names[name])}"
            raise InvalidSpecError(f"invalid linux net device, duplicate Name {quote(name)} {others}")
        hosts[host], names[name] = name, host
