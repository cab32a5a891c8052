"""The paths of the node that a CDI specification needs: device nodes, mounts and hook programs."""

from collections.abc import Iterator
from dataclasses import dataclass

from lockgate.cdi.registry import File
from lockgate.cdi.spec import Edits


@dataclass(frozen=True, slots=True)
class HostPath:
    """One path that must be there, what it is, and the device that brings it ("" for all devices of the file)."""

    path: str
    what: str
    device: str


def host_paths(file: File) -> Iterator[HostPath]:
    """Every path of the node that a specification names, each once per device."""
    for name, edits in (("", file.spec.container_edits), *((d.name, d.container_edits) for d in file.spec.devices)):
        yield from _of(name, edits)


def _of(device: str, edits: Edits) -> Iterator[HostPath]:
    for node in edits.device_nodes:
        if node is not None:
            yield HostPath(node.host_path or node.path, "device node", device)
    for mount in edits.mounts:
        if mount is not None and mount.type in ("", "bind"):
            yield HostPath(mount.host_path, "mounted file", device)
    for hook in edits.hooks:
        if hook is not None:
            yield HostPath(hook.path, "hook", device)
