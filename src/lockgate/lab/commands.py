"""What a test may do to the machine: each verb of the control protocol, by name.

A control request is one line of JSON, `{"verb": ..., ...}`, on the same socket; its reply `{"ok": result}` or
`{"error": text}`.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from lockgate.lab.codes import Event
from lockgate.lab.machine import GpuEvent, Machine
from lockgate.lab.state import Gpu, edit_gpu, reset_gpu


def run_command(machine: Machine, line: bytes) -> bytes:
    """The reply to one control request."""
    try:
        request = msgspec.json.decode(line, type=dict[str, Any])
        verb = VERBS.get(request.pop("verb", ""))
        if verb is None:
            raise ValueError(f"no such verb; there are {', '.join(sorted(VERBS))}")
        result = verb(machine, **request)
    except (ValueError, TypeError) as error:
        return msgspec.json.encode({"error": str(error)}) + b"\n"
    return msgspec.json.encode({"ok": result}) + b"\n"


def _state(machine: Machine) -> Any:
    return msgspec.to_builtins(machine.driver)


def _set(machine: Machine, *, gpu: int | str, fields: dict[str, Any]) -> Any:
    changed = edit_gpu(find_gpu(machine, gpu), fields)
    machine.change_gpu(changed)
    return msgspec.to_builtins(changed)


def _driver(machine: Machine, *, fields: dict[str, Any]) -> Any:
    """Change the driver itself: version, cuda_version, loaded, cuda_error, failures."""
    allowed = {"version", "cuda_version", "loaded", "cuda_error", "failures"}
    if unknown := fields.keys() - allowed:
        raise ValueError(f"the driver has no {', '.join(sorted(unknown))}; it has {', '.join(sorted(allowed))}")
    machine.driver = msgspec.convert(msgspec.to_builtins(machine.driver) | fields, type(machine.driver))
    return None


def _event(machine: Machine, *, gpu: int | str, type: int, data: int = 0, **instances: int) -> Any:
    found = find_gpu(machine, gpu)
    event = msgspec.convert({"minor": found.minor, "type": type, "data": data, **instances}, GpuEvent)
    machine.publish(event)
    return sum(bool(session.event_masks.get(found.minor, 0) & type) for session in machine.sessions)


def _lose(machine: Machine, *, gpu: int | str, xid: int = 79) -> Any:
    """The GPU falls off the bus: whoever listens hears the XID, and from then on nothing answers."""
    found = find_gpu(machine, gpu)
    heard = _event(machine, gpu=found.uuid, type=Event.XID, data=xid)
    machine.change_gpu(msgspec.structs.replace(found, lost=True))
    return heard


def _reset(machine: Machine, *, gpu: int | str) -> Any:
    changed = reset_gpu(find_gpu(machine, gpu))
    machine.change_gpu(changed)
    return msgspec.to_builtins(changed)


def find_gpu(machine: Machine, wanted: int | str) -> Gpu:
    """The GPU with this minor number, UUID or PCI bus id."""
    for gpu in machine.driver.gpus:
        if wanted in (gpu.minor, gpu.uuid, gpu.bus_id):
            return gpu
    minors = ", ".join(str(gpu.minor) for gpu in machine.driver.gpus)
    raise ValueError(f"no GPU {wanted!r}; there are {minors or 'none'}")


VERBS: Final[dict[str, Callable[..., Any]]] = {
    "state": _state,
    "set": _set,
    "driver": _driver,
    "event": _event,
    "kernel-log": lambda machine: list(machine.kernel_log),
    "lose": _lose,
    "reset": _reset,
}
