"""The kubelet's own record of who has which device: `/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint`.

The format is that of pkg/kubelet/cm/devicemanager/checkpoint (1.20 to 1.37); before, `DeviceIDs` was a plain list.
"""

from typing import Final

import msgspec

PATH: Final = "/var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
_REPLICA: Final = "::"  # k8s-device-plugin's mark between a device and the number of a shared slot


class _Entry(msgspec.Struct, frozen=True, rename="pascal"):
    pod_uid: str = msgspec.field(default="", name="PodUID")
    container_name: str = ""
    resource_name: str = ""
    device_ids: dict[str, tuple[str, ...]] | tuple[str, ...] | None = msgspec.field(default=None, name="DeviceIDs")


class _Data(msgspec.Struct, frozen=True, rename="pascal"):
    pod_device_entries: tuple[_Entry, ...] | None = None


class _File(msgspec.Struct, frozen=True, rename="pascal"):
    data: _Data = _Data()


def devices_by_pod(text: str) -> dict[str, tuple[str, ...]] | None:
    """Pod uid -> ids of its devices, without the number of a shared slot; None where the text is no such record."""
    try:
        entries = msgspec.json.decode(text, type=_File).data.pod_device_entries or ()
    except msgspec.MsgspecError:
        return None
    found: dict[str, tuple[str, ...]] = {}
    for entry in entries:
        ids = {each.partition(_REPLICA)[0] for each in _ids(entry)}
        found[entry.pod_uid] = tuple(sorted({*found.get(entry.pod_uid, ()), *ids}))
    return found


def _ids(entry: _Entry) -> tuple[str, ...]:
    if isinstance(entry.device_ids, dict):
        return tuple(each for ids in entry.device_ids.values() for each in ids)
    return entry.device_ids or ()
