"""What a node is, as labels: PCI devices, NUMA, kernel, operating system. A source that cannot be read gives None.

Names and values are those of node-feature-discovery 0.19 as NVIDIA's operator configures it (PCI by vendor), and
besides the spelling of NFD's own defaults (by class and vendor), since selectors of both kinds are in use.
"""

import re
import shlex
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from lockgate.host.rooted import Root
from lockgate.model.names import NFD_PREFIX

Labels = dict[str, str]

NVIDIA: Final = "10de"
MELLANOX: Final = "15b3"
# vendor -> classes (first digits) that count: display and 3D controllers; network controllers
_PCI: Final[Mapping[str, tuple[str, ...]]] = {NVIDIA: ("0300", "0302"), MELLANOX: ("02",)}
_VALUE_LIMIT: Final = 63
_RELEASE: Final = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")
_VERSION: Final = re.compile(r"(\d+)(?:\.(\d+))?")


def scan(host: Path) -> dict[str, Labels | None]:
    """Labels by source: `pci`, `memory`, `kernel`, `system`. None: unknown now, so what was known stays."""
    root = Root(host)
    return {"pci": scan_pci(root), "memory": scan_numa(root), "kernel": scan_kernel(root), "system": scan_system(root)}


def scan_pci(root: Root) -> Labels | None:
    """`pci-10de.present` and `pci-0302_10de.present`; None where no PCI device at all is seen."""
    names = list(root.names("/sys/bus/pci/devices"))
    if not names:
        return None
    found: Labels = {}
    for name in names:
        vendor = _hex(root, f"/sys/bus/pci/devices/{name}/vendor")
        cls = _hex(root, f"/sys/bus/pci/devices/{name}/class")[:4]
        if cls.startswith(_PCI.get(vendor, ("none",))):
            found[f"{NFD_PREFIX}pci-{vendor}.present"] = "true"
            found[f"{NFD_PREFIX}pci-{cls}_{vendor}.present"] = "true"
    return found


def scan_numa(root: Root) -> Labels | None:
    """`memory-numa` on a machine with more than one NUMA node."""
    nodes = [name for name in root.names("/sys/devices/system/node") if re.fullmatch(r"node\d+", name)]
    if not nodes:
        return None
    return {f"{NFD_PREFIX}memory-numa": "true"} if len(nodes) > 1 else {}


def scan_kernel(root: Root) -> Labels | None:
    """`kernel-version.full` and its numbers."""
    release = _read(root, "/proc/sys/kernel/osrelease")
    match = _RELEASE.match(release or "")
    if not release or not match:
        return None
    names = ("major", "minor", "revision")
    numbers = {f"{NFD_PREFIX}kernel-version.{name}": part for name, part in zip(names, match.groups(), strict=True)}
    return {f"{NFD_PREFIX}kernel-version.full": clean(release)} | {k: v for k, v in numbers.items() if v}


def scan_system(root: Root) -> Labels | None:
    """`system-os_release.ID`, `.VERSION_ID` and its numbers."""
    text = _read(root, "/etc/os-release") or _read(root, "/usr/lib/os-release")
    release = dict(_assignments(text or ""))
    if "ID" not in release:
        return None
    found = {f"{NFD_PREFIX}system-os_release.ID": clean(release["ID"])}
    if version := release.get("VERSION_ID"):
        found[f"{NFD_PREFIX}system-os_release.VERSION_ID"] = clean(version)
        if match := _VERSION.match(version):
            parts = zip(("major", "minor"), match.groups(), strict=True)
            found |= {f"{NFD_PREFIX}system-os_release.VERSION_ID.{name}": part for name, part in parts if part}
    return found


def clean(value: str) -> str:
    """A value that a label may have, made as NFD makes it."""
    return re.sub(r"[^-A-Za-z0-9_.]", "_", value)[:_VALUE_LIMIT].strip("-_.")


def _assignments(text: str) -> Iterator[tuple[str, str]]:
    """The variables of an os-release file."""
    for line in text.splitlines():
        name, equals, value = line.strip().partition("=")
        if equals and not name.startswith("#"):
            try:
                yield name, "".join(shlex.split(value))
            except ValueError:  # a quote that is not closed
                yield name, value.strip("\"'")


def _hex(root: Root, path: str) -> str:
    """A number in sysfs without its prefix: `10de`."""
    return (_read(root, path) or "").lower().removeprefix("0x")


def _read(root: Root, path: str) -> str | None:
    """The text of a small file, or None."""
    folder, _, name = path.rpartition("/")
    found = root.find(folder, name, stat.S_IFREG)
    try:
        return root.outside(found).read_text(errors="replace").strip() if found else None
    except OSError:
        return None
