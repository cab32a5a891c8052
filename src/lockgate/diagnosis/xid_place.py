"""What of a node tells whose GPU an XID was on, whether that is past, and who leaves it alone."""

from collections.abc import Iterable, Mapping

import msgspec

from lockgate.diagnosis.xid_told import Holders, NodeXid
from lockgate.model import names
from lockgate.model.node_state import DevicesState
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.requests import amounts
from lockgate.xid.policies import APPLICATION_XIDS, nvidia_plugin_ignores


class Place(msgspec.Struct, frozen=True):
    """One node: `here` are the pods with GPUs of it, `record` the devices by pod uid, `measured` what exporters say.

    `settings` is the environment of NVIDIA's plugin, None where there is none.
    """

    node: Node | None
    devices: DevicesState | None
    here: list[Pod]
    record: Mapping[str, tuple[str, ...]]
    measured: Mapping[str, tuple[str, ...]]
    settings: Mapping[str, str] | None

    def completed(self, xid: NodeXid) -> NodeXid:
        """The XID with what its node tells of it."""
        acted = xid.acted or _left_alone(xid.code.number, self.settings)
        return msgspec.structs.replace(
            xid, holders=self._holders(xid), acted=acted, past=xid.past or self._is_past(xid)
        )

    def _is_past(self, xid: NodeXid) -> bool:
        """Whether the device plugin has the GPU in use again: this one, or all where it is not told which."""
        if self.devices is None or not self.devices.registered or xid.active:
            return False
        own = [d for d in self.devices.devices if d.uuid == xid.uuid] or self.devices.devices
        return bool(own) and all(d.healthy for d in own)

    def _holders(self, xid: NodeXid) -> Holders:
        """Whose GPU it is, as the kubelet or the exporter says; else every pod with a GPU that was there in time."""
        in_time = [p for p in self.here if _was_there(p, xid)]
        if xid.uuid and self.record:
            own = [p for p in in_time if xid.uuid in self.record.get(p.metadata.uid, ())]
            return Holders(_called(own), known=True)
        if xid.uuid in self.measured:
            return Holders(tuple(sorted(set(self.measured[xid.uuid]))), known=True)
        return Holders(_called(in_time), known=len(in_time) == 1 and _gpus(self.node) == 1)


def _was_there(pod: Pod, xid: NodeXid) -> bool:
    return xid.at is None or pod.status.start_time is None or pod.status.start_time <= xid.at


def _left_alone(code: int, settings: Mapping[str, str] | None) -> tuple[str, ...]:
    """What NVIDIA's plugin, where it runs with settings that are known, does about a code that nobody acted on."""
    if settings is None:
        return ()
    disable, enable = settings.get("DP_DISABLE_HEALTHCHECKS", ""), settings.get("DP_ENABLE_HEALTHCHECKS", "")
    if not nvidia_plugin_ignores(code, disable, enable):
        return ()
    listed = code in APPLICATION_XIDS
    why = "it is on its list of application errors" if listed else f"DP_DISABLE_HEALTHCHECKS={disable}"
    return (f"NVIDIA's device plugin ignores it: {why}",)


def _called(pods: Iterable[Pod]) -> tuple[str, ...]:
    return tuple(sorted(f"{p.namespace}/{p.name}" for p in pods))


def _gpus(node: Node | None) -> int:
    capacity = amounts(node.status.capacity) if node else {}
    return sum(int(count) for name, count in capacity.items() if names.is_gpu_resource(name))
