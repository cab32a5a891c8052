"""A CDI document as frozen values, with the field names of the specification.

Source: `tags.cncf.io/container-device-interface/specs-go` v1.1.1. Optional numbers that may also be absent are None.
"""

from typing import Final

import msgspec

VERSIONS: Final = ("0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0")
EARLIEST: Final = "0.3.0"


class Part(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, gc=False):
    """A value inside a document; fields at their default are not written."""


class DeviceNode(Part, frozen=True):
    """A device node to make in the container; what is absent is read from `host_path` (or `path`) when it is made."""

    path: str = ""
    host_path: str = ""
    type: str = ""
    major: int = 0
    minor: int = 0
    file_mode: int | None = None
    permissions: str = ""
    uid: int | None = None
    gid: int | None = None


class NetDevice(Part, frozen=True):
    host_interface_name: str = ""
    name: str = ""


class Hook(Part, frozen=True):
    hook_name: str = ""
    path: str = ""
    args: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    timeout: int | None = None


class Mount(Part, frozen=True):
    host_path: str = ""
    container_path: str = ""
    options: tuple[str, ...] = ()
    type: str = ""


class IntelRdt(Part, frozen=True):
    clos_id: str = msgspec.field(default="", name="closID")
    l3_cache_schema: str = msgspec.field(default="", name="l3CacheSchema")
    mem_bw_schema: str = msgspec.field(default="", name="memBwSchema")
    schemata: tuple[str, ...] | None = None
    enable_monitoring: bool = False


class Edits(Part, frozen=True):
    """What an injection adds to a container."""

    env: tuple[str, ...] = ()
    device_nodes: tuple[DeviceNode | None, ...] = ()
    net_devices: tuple[NetDevice | None, ...] = ()
    hooks: tuple[Hook | None, ...] = ()
    mounts: tuple[Mount | None, ...] = ()
    intel_rdt: IntelRdt | None = None
    additional_gids: tuple[int, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether the edits change nothing: forbidden for a device, allowed for a document."""
        lists = (self.env, self.device_nodes, self.net_devices, self.hooks, self.mounts, self.additional_gids)
        return self.intel_rdt is None and not any(lists)


class Device(Part, frozen=True):
    name: str = ""
    annotations: dict[str, str] = {}
    container_edits: Edits = Edits()


class Spec(Part, frozen=True):
    """One document: a kind (`vendor/class`), its devices, and the edits that every one of them brings."""

    cdi_version: str = ""
    kind: str = ""
    annotations: dict[str, str] = {}
    devices: tuple[Device, ...] = ()
    container_edits: Edits = Edits()

    @property
    def vendor(self) -> str:
        """The part of the kind before its slash, or "" where the kind has none."""
        vendor, _, cls = self.kind.partition("/")
        return vendor if cls else ""

    @property
    def cls(self) -> str:
        """The part of the kind after its slash; all of the kind where it has none."""
        vendor, _, cls = self.kind.partition("/")
        return cls if vendor and cls else self.kind

    def qualified(self, device: str) -> str:
        """The name by which a container asks for a device of this document."""
        return f"{self.vendor}/{self.cls}={device}"
