"""Event sets: a connection each, which registers for events and waits for them."""

import asyncio

from lockgate.lab.answers.registry import Call, Target, Values, answers
from lockgate.lab.codes import NvmlError, Return
from lockgate.lab.wire import Object

_SUPPORTED = 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x80 | 0x100
_LONGEST_WAIT = 3600.0


@answers("nvmlDeviceRegisterEvents", "gu")
def _register(call: Call, target: Target, mask: int) -> Values:
    if mask & ~_SUPPORTED:
        raise NvmlError(Return.NOT_SUPPORTED)
    masks = call.session.event_masks
    masks[target.gpu.minor] = masks.get(target.gpu.minor, 0) | mask
    return ()


@answers("nvmlEventSetWait_v2", "u")
async def _wait(call: Call, milliseconds: int) -> Values:
    """Device, type, data, GPU instance and compute instance of the next event."""
    try:
        # wait_for with no time left would not even look whether an event is there
        seconds = max(0.001, min(milliseconds / 1000, _LONGEST_WAIT))
        event = await asyncio.wait_for(call.session.events.get(), seconds)
    except TimeoutError as error:
        raise NvmlError(Return.TIMEOUT) from error
    return Object((event.minor,)), event.type, event.data, event.gpu_instance, event.compute_instance
