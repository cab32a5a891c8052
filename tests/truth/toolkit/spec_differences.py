"""Where our specification differs from nvidia-ctk's, each difference under the row of the page that explains it.

A hook is compared by what it does: a link that it would make must be a mount of the same file in ours.
"""

import re
from collections.abc import Iterator
from posixpath import basename, dirname, join, normpath
from typing import Final, TypeAlias

from lockgate.cdi.build import library_directories
from lockgate.cdi.spec import DeviceNode, Edits, Hook, Mount, Spec

Difference: TypeAlias = tuple[str, str]
"""The row that explains it, and what was seen."""

MACHINE: Final = "x86_64-linux-gnu"
_LIBRARY: Final = re.compile(r".*/lib[^/]+\.so(\.[^/]*)?")
_LINK: Final = "create-symlinks"
_VOID: Final = "/var/run/nvidia-container-devices/void"


def differences(theirs: Spec, ours: Spec) -> Iterator[Difference]:
    """Every difference between two specifications of one kind for one node."""
    if theirs.kind != ours.kind:
        yield "kind", f"{theirs.kind}, {ours.kind}"
    if theirs.cdi_version != ours.cdi_version:
        yield "`cdiVersion`", f"{theirs.cdi_version}, {ours.cdi_version}"
    their_devices, our_devices = _devices(theirs), _devices(ours)
    for name in sorted(their_devices.keys() ^ our_devices.keys()):
        yield "device name", name
    for name in sorted(their_devices.keys() & our_devices.keys()):
        yield from _edits(their_devices[name], our_devices[name])


def _devices(spec: Spec) -> dict[str, Edits]:
    """What a container gets with each device: what all bring, and its own."""
    return {device.name: _together(spec.container_edits, device.container_edits) for device in spec.devices}


def _together(one: Edits, other: Edits) -> Edits:
    return Edits(
        env=one.env + other.env,
        device_nodes=one.device_nodes + other.device_nodes,
        hooks=one.hooks + other.hooks,
        mounts=one.mounts + other.mounts,
        additional_gids=one.additional_gids + other.additional_gids,
    )


def _edits(theirs: Edits, ours: Edits) -> Iterator[Difference]:
    for entry in sorted(set(theirs.env) ^ set(ours.env)):
        yield f"`{entry.partition('=')[0]}`", entry
    if theirs.additional_gids != ours.additional_gids:
        yield "`additionalGids`", f"{theirs.additional_gids}, {ours.additional_gids}"
    yield from _nodes(theirs, ours)
    yield from _mounts(theirs, ours)
    for hook in (hook for hook in theirs.hooks if hook):
        yield from _hook(hook, theirs, ours)
    for hook in (hook for hook in ours.hooks if hook):
        yield "hook of ours", str(hook)


def _nodes(theirs: Edits, ours: Edits) -> Iterator[Difference]:
    def places(edits: Edits) -> set[tuple[str, str]]:
        return {(node.path, node.host_path or node.path) for node in edits.device_nodes if node}

    for place in sorted(places(theirs) ^ places(ours)):
        yield "device node", str(place)
    for node in (node for node in theirs.device_nodes if node):
        if node != DeviceNode(path=node.path, host_path=node.host_path):
            yield "numbers and modes of device nodes", str(node)


def _mounts(theirs: Edits, ours: Edits) -> Iterator[Difference]:
    our_mounts = {mount.container_path: mount for mount in ours.mounts if mount}
    explained = set()
    for mount in (mount for mount in theirs.mounts if mount):
        found = our_mounts.get(mount.container_path)
        if found and _same(found, mount):
            explained.add(found.container_path)
        elif mount.container_path == _VOID:
            yield "`void`", mount.host_path
        elif same_file := [other for other in our_mounts.values() if other.host_path == mount.host_path]:
            explained |= {other.container_path for other in same_file}
            yield _moved(mount), mount.container_path
        else:
            yield "mount of theirs", str(mount)
    libraries = {mount.host_path for mount in theirs.mounts if mount and _LIBRARY.fullmatch(mount.host_path)}
    for path, mount in our_mounts.items():
        if path not in explained and mount.host_path not in libraries:
            yield ("`/tmp/nvidia-mps`" if path == "/tmp/nvidia-mps" else "mount of ours"), str(mount)


def _same(one: Mount, other: Mount) -> bool:
    return (one.host_path, set(one.options), one.type) == (other.host_path, set(other.options), other.type)


def _moved(mount: Mount) -> str:
    return "libraries" if _LIBRARY.fullmatch(mount.container_path) else "programs"


def _hook(hook: Hook, theirs: Edits, ours: Edits) -> Iterator[Difference]:
    name = hook.args[1]
    yield f"`{name}`", " ".join(hook.args)
    if name == _LINK:
        for link in hook.args[3::2]:
            target, _, path = link.partition("::")
            if "/dev/dri/by-path/" in path:  # below the dev root: nvidia-ctk forgets to take it away
                yield "`/dev/dri/by-path`", link
            elif not _made(target, path, hook, theirs, ours):
                yield "link of theirs", link


def _made(target: str, path: str, hook: Hook, theirs: Edits, ours: Edits) -> bool:
    """Whether a link is a mount of the file to which it would lead."""
    links = {link.partition("::")[2]: link.partition("::")[0] for link in hook.args[3::2]}
    at = normpath(join(dirname(path), target))
    while at in links:
        at = normpath(join(dirname(at), links[at]))
    hosts = {mount.container_path: mount.host_path for mount in theirs.mounts if mount}
    host = hosts.get(at) or next((h for p, h in hosts.items() if dirname(p) == dirname(at) and _bears(p, at)), None)
    mounted = {mount.container_path: mount.host_path for mount in ours.mounts if mount}
    places = [path, *(f"{directory}/{name}" for directory in library_directories(MACHINE) for name in _names(path))]
    return host is not None and host in {mounted.get(place) for place in places}


def _bears(mounted: str, soname: str) -> bool:
    """Whether a mounted library is the one that ldconfig would give this soname (`libnvidia-allocator.so.1`)."""
    return basename(mounted).startswith(basename(soname).rpartition(".")[0] + ".")


def _names(path: str) -> tuple[str, str]:
    """A link as it is called in a library directory, or in a folder of one (`gbm/nvidia-drm_gbm.so`)."""
    return basename(path), f"{basename(dirname(path))}/{basename(path)}"
