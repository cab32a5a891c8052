"""What a container gets for the ids that the kubelet chose: CDI names, annotations, environment, device nodes.

Source of the names and of the order: k8s-device-plugin 0.20, Allocate.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from lockgate.agents.device_plugin.devices import SEPARATOR, PluginDevice, Slot
from lockgate.kubelet.device_plugin_server import RefusedError
from lockgate.kubelet.messages import Allocation, DeviceSpec, Mount
from lockgate.model.names import CDI_PLUGIN

CONTROL_NODES: Final = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset")
_VOLUMES: Final = "/var/run/nvidia-container-devices"


class Manner(msgspec.Struct, frozen=True):
    """How devices are handed over: `strategies` as DEVICE_LIST_STRATEGY names them."""

    strategies: frozenset[str]
    by_index: bool = False
    pass_device_specs: bool = False
    one_per_request: bool = False
    annotation_prefix: str = "cdi.k8s.io/"
    dev_root: str = "/"


def allocate(
    resource: str,
    ids: Sequence[str],
    slots: Mapping[str, Slot],
    manner: Manner,
    present: frozenset[str],
    token: str,
) -> Allocation:
    """The answer for one container; `present` are the device nodes of the host, `token` makes the annotation unique.

    Raises RefusedError, which the kubelet shows in the pod's status.
    """
    devices = _chosen(resource, ids, slots, manner)
    names = tuple(dict.fromkeys(device.index if manner.by_index else device.id for device in devices))
    cdi = tuple(f"{CDI_PLUGIN}={name}" for name in dict.fromkeys(device.id for device in devices))
    strategies = manner.strategies
    return Allocation(
        envs=_environment(names, strategies),
        mounts=tuple(_volume(name) for name in names) if "volume-mounts" in strategies else (),
        devices=_device_specs(devices, present, manner.dev_root) if manner.pass_device_specs else (),
        annotations=(
            {f"{manner.annotation_prefix}nvidia-device-plugin_{token}": ",".join(cdi)}
            if "cdi-annotations" in strategies
            else {}
        ),
        cdi_devices=cdi if "cdi-cri" in strategies else (),
    )


def _chosen(resource: str, ids: Sequence[str], slots: Mapping[str, Slot], manner: Manner) -> list[PluginDevice]:
    refusal = f'invalid allocation request for "{resource}": '
    for id in ids:
        if id not in slots:
            raise RefusedError(f"{refusal}invalid request: unknown device: {id}")
    shared = any(SEPARATOR in id for id in ids)
    if shared and manner.one_per_request and len(ids) > 1:
        raise RefusedError(
            f"{refusal}invalid request: maximum request size for shared resources is 1; found {len(ids)}"
        )
    return [slots[id].device for id in ids]


def _environment(names: tuple[str, ...], strategies: frozenset[str]) -> dict[str, str]:
    if "volume-mounts" in strategies:
        return {"NVIDIA_VISIBLE_DEVICES": _VOLUMES}
    return {"NVIDIA_VISIBLE_DEVICES": ",".join(names)} if "envvar" in strategies else {}


def _volume(name: str) -> Mount:
    return Mount(host_path="/dev/null", container_path=f"{_VOLUMES}/{name}", read_only=False)


def _device_specs(devices: Sequence[PluginDevice], present: frozenset[str], dev_root: str) -> tuple[DeviceSpec, ...]:
    control = [node for node in CONTROL_NODES if node in present]
    own = [node for device in devices for node in device.nodes]
    root = dev_root.rstrip("/")
    return tuple(DeviceSpec(root + node, node) for node in dict.fromkeys((*control, *own)))
