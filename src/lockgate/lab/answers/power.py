"""Heat, energy and clocks, where a sensor, threshold or clock is asked for by number."""

from lockgate.lab.answers.registry import Call, Target, Values, answers
from lockgate.lab.boards import Clocks
from lockgate.lab.codes import NvmlError, Return


@answers("nvmlDeviceGetTotalEnergyConsumption", "g")
def _energy(call: Call, target: Target) -> Values:
    seconds = call.machine.clock() - call.machine.started
    return (target.gpu.energy + int(target.gpu.power_draw * seconds),)


@answers("nvmlDeviceGetTemperature", "gu")
def _temperature(call: Call, target: Target, sensor: int) -> Values:
    if sensor != 0:
        raise NvmlError(Return.INVALID_ARGUMENT)
    return (target.gpu.temperature,)


@answers("nvmlDeviceGetMarginTemperature", "g")
def _margin(call: Call, target: Target) -> Values:
    if target.gpu.product.architecture < 9:
        raise NvmlError(Return.NOT_SUPPORTED)
    return (target.gpu.product.temperature_slowdown - target.gpu.temperature,)


@answers("nvmlDeviceGetTemperatureThreshold", "gu")
def _threshold(call: Call, target: Target, threshold: int) -> Values:
    board = target.gpu.product
    thresholds = (
        board.temperature_shutdown,
        board.temperature_slowdown,
        board.temperature_memory_max,
        board.temperature_max,
    )
    if threshold > 7:
        raise NvmlError(Return.INVALID_ARGUMENT)
    if threshold >= len(thresholds) or not thresholds[threshold]:
        raise NvmlError(Return.NOT_SUPPORTED)
    return (thresholds[threshold],)


@answers("nvmlDeviceGetClockInfo", "gu")
def _clock(call: Call, target: Target, kind: int) -> Values:
    return (_pick_clock(target.gpu.clocks, kind),)


@answers("nvmlDeviceGetMaxClockInfo", "gu")
def _max_clock(call: Call, target: Target, kind: int) -> Values:
    return (_pick_clock(target.gpu.product.clocks_max, kind),)


@answers("nvmlDeviceGetApplicationsClock", "gu")
@answers("nvmlDeviceGetDefaultApplicationsClock", "gu")
def _applications_clock(call: Call, target: Target, kind: int) -> Values:
    clock = _pick_clock(target.gpu.product.clocks_default, kind)
    if not clock:
        raise NvmlError(Return.NOT_SUPPORTED)
    return (clock,)


@answers("nvmlDeviceGetMaxCustomerBoostClock", "gu")
def _boost_clock(call: Call, target: Target, kind: int) -> Values:
    if kind not in (0, 1):
        raise NvmlError(Return.NOT_SUPPORTED)
    return (_pick_clock(target.gpu.product.clocks_max, kind),)


@answers("nvmlDeviceGetClock", "guu")
def _clock_by_id(call: Call, target: Target, kind: int, clock_id: int) -> Values:
    board = target.gpu.product
    clocks = (target.gpu.clocks, board.clocks_default, board.clocks_default, board.clocks_max)
    if clock_id >= len(clocks):
        raise NvmlError(Return.INVALID_ARGUMENT)
    return (_pick_clock(clocks[clock_id], kind),)


def _pick_clock(clocks: Clocks, kind: int) -> int:
    in_order = (clocks.graphics, clocks.sm, clocks.memory, clocks.video)
    if kind >= len(in_order):
        raise NvmlError(Return.INVALID_ARGUMENT)
    return in_order[kind]
