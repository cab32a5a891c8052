"""From the driver's snapshot to the devices of each resource: MIG strategy, then replicas."""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from lockgate.agents.sharing import Sharing
from lockgate.gpu.values import Gpu, MigDevice, Snapshot, known
from lockgate.mig.profile_name import parse_profile_name
from lockgate.model.names import GPU, MIG_PREFIX

SEPARATOR: Final = "::"  # between a device's UUID and the number of its replica
_DISPLAYS: Final = frozenset(("DGX Display", "NVIDIA DGX Display"))  # no compute, never advertised


class PluginDevice(msgspec.Struct, frozen=True):
    """A GPU or MIG device to hand out.

    `id` is its UUID, `index` "0" or "0:1"; `gpu` and `gpu_index` name the physical GPU. `nodes` are its device nodes,
    `drm_nodes` those for graphics, which come with a CDI specification only.
    """

    id: str
    index: str
    gpu: str
    gpu_index: str
    product: str
    memory_mib: int
    resource: str
    nodes: tuple[str, ...]
    drm_nodes: tuple[str, ...] = ()
    numa_node: int | None = None
    gpu_instance: int | None = None
    compute_instance: int | None = None


class Enumeration(msgspec.Struct, frozen=True):
    """The devices to advertise. `problem`: why there are none; `notes`: what was left out, and why."""

    devices: tuple[PluginDevice, ...] = ()
    problem: str = ""
    notes: tuple[str, ...] = ()


class Slot(msgspec.Struct, frozen=True):
    """One advertised unit: `id` is what the kubelet hands out."""

    id: str
    device: PluginDevice


def enumerate_devices(seen: Snapshot, strategy: str, mig_minors: Mapping[str, int]) -> Enumeration:
    """The devices under a MIG strategy (none, single, mixed), in the driver's order.

    `mig_minors`: capability -> minor number, as in `/proc/driver/nvidia-caps/mig-minors`.
    """
    gpus = tuple(gpu for gpu in seen.gpus if gpu.name not in _DISPLAYS)
    match strategy:
        case "single":
            return _single(gpus, mig_minors)
        case "mixed":
            return _mixed(gpus, mig_minors)
        case _:
            return Enumeration(tuple(_whole(gpu) for gpu in gpus))


def _single(gpus: tuple[Gpu, ...], minors: Mapping[str, int]) -> Enumeration:
    enabled = [gpu for gpu in gpus if gpu.mig_enabled]
    if not enabled:
        return Enumeration(tuple(_whole(gpu) for gpu in gpus))
    if len(enabled) < len(gpus):
        return Enumeration(problem="all devices on the node must be configured with the same migEnabled value")
    empty = next((gpu for gpu in gpus if not gpu.mig), None)
    if empty is not None:
        return Enumeration(problem=f"device {empty.index} has no MIG devices configured")
    profiles = sorted({mig.profile for gpu in gpus for mig in gpu.mig})
    if len(profiles) > 1:
        return Enumeration(problem=f"more than one MIG device type present on node: {', '.join(profiles)}")
    return Enumeration(tuple(_mig(gpu, mig, GPU, minors) for gpu in gpus for mig in gpu.mig))


def _mixed(gpus: tuple[Gpu, ...], minors: Mapping[str, int]) -> Enumeration:
    devices: list[PluginDevice] = []
    notes: list[str] = []
    for gpu in gpus:
        if not gpu.mig_enabled:
            devices.append(_whole(gpu))
        elif not gpu.mig:
            notes.append(f"GPU {gpu.index}: MIG is on, but it has no MIG devices: nothing of it is advertised")
        for mig in gpu.mig:
            profile = parse_profile_name(mig.profile)
            if profile.compute_slices != profile.gpu_slices:
                notes.append(f"MIG profile '{mig.profile}' does not match any resource patterns")
            else:
                devices.append(_mig(gpu, mig, MIG_PREFIX + profile.resource_suffix, minors))
    return Enumeration(tuple(devices), notes=tuple(notes))


def _whole(gpu: Gpu) -> PluginDevice:
    index = str(gpu.index)
    return PluginDevice(
        id=gpu.uuid,
        index=index,
        gpu=gpu.uuid,
        gpu_index=index,
        product=gpu.name,
        memory_mib=known(gpu.memory_mib, 0),
        resource=GPU,
        nodes=(f"/dev/nvidia{gpu.minor}",),
        drm_nodes=gpu.drm_nodes,
        numa_node=gpu.numa_node,
    )


def _mig(gpu: Gpu, mig: MigDevice, resource: str, minors: Mapping[str, int]) -> PluginDevice:
    instance = f"gpu{gpu.minor}/gi{mig.gpu_instance}"
    capabilities = (f"{instance}/access", f"{instance}/ci{mig.compute_instance}/access")
    return msgspec.structs.replace(
        _whole(gpu),
        id=mig.uuid,
        index=f"{gpu.index}:{mig.index}",
        memory_mib=mig.memory_mib,
        product=f"{gpu.name} MIG {mig.profile}",
        resource=resource,
        nodes=(
            f"/dev/nvidia{gpu.minor}",
            *(f"/dev/nvidia-caps/nvidia-cap{minors[name]}" for name in capabilities if name in minors),
        ),
        drm_nodes=gpu.drm_nodes if mig.has_graphics else (),
        gpu_instance=mig.gpu_instance,
        compute_instance=mig.compute_instance,
    )


def still_expected(before: Iterable[PluginDevice], now: Enumeration, seen: Snapshot) -> tuple[PluginDevice, ...]:
    """The devices to advertise, with those kept that only a lost GPU hides.

    A device whose GPU answers but no longer has it (MIG was reconfigured) is gone. One whose GPU is missing stays while
    some GPU of the node does not answer: it is lost, not removed.
    """
    answering = {gpu.uuid for gpu in seen.gpus}
    present = {device.id for device in now.devices}
    hidden = [
        device
        for device in before
        if seen.unreadable and device.id not in present and device.gpu not in answering and not now.problem
    ]
    return tuple(sorted((*now.devices, *hidden), key=_by_index))


def _by_index(device: PluginDevice) -> tuple[int, ...]:
    return tuple(int(part) for part in device.index.split(":"))


def slots(devices: Iterable[PluginDevice], sharing: Sharing) -> dict[str, tuple[Slot, ...]]:
    """Resource as advertised -> its slots."""
    found: dict[str, list[Slot]] = {}
    for device in devices:
        how = sharing.of(device.resource)
        ids = [device.id] if how.replicas < 2 else [f"{device.id}{SEPARATOR}{n}" for n in range(how.replicas)]
        found.setdefault(how.advertised, []).extend(Slot(id, device) for id in ids)
    return {resource: tuple(units) for resource, units in found.items()}
