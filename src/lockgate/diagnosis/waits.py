"""Operands that wait in Init for another one, and whom each of them waits for."""

from collections.abc import Iterable
from typing import Final

import msgspec

from lockgate.diagnosis.stage import crash_loops, is_ready
from lockgate.diagnosis.views.operands import OperandPod
from lockgate.model.objects import Pod

_AWAITED: Final = {
    "driver-validation": "driver",
    "toolkit-validation": "container-toolkit",
    "cuda-validation": "operator-validator",
    "plugin-validation": "device-plugin",
}
ORDER: Final = tuple(_AWAITED.values())
"""Who is waited for, the first in the chain first."""
BEFORE_HANDLER: Final = ORDER[:2]
"""Until these have done their work nobody has written the handler; what comes after them needs it to begin at all."""


class Wait(msgspec.Struct, frozen=True):
    """An operand's pod in Init: the init container that runs, and the operand that it waits for."""

    pod: Pod
    container: str
    awaited: str


def waits_of(here: Iterable[OperandPod]) -> tuple[Wait, ...]:
    """The pods of a node that wait, in their own order."""
    return tuple(wait for each in here if (wait := _wait(each.pod)))


def _wait(pod: Pod) -> Wait | None:
    if is_ready(pod) or pod.status.phase != "Pending":
        return None
    running = next((s for s in pod.status.init_container_statuses if s.state.running or crash_loops(s)), None)
    if running is None or running.name not in _AWAITED:
        return None
    return Wait(pod, running.name, _AWAITED[running.name])
