"""Who uses a device."""

import time

from lockgate.lab.answers.registry import Call, Target, Values, answers
from lockgate.lab.codes import NO_INSTANCE, NvmlError, Return
from lockgate.lab.state import Process


def _instance(value: int | None) -> int:
    return NO_INSTANCE if value is None else value


def _processes(target: Target, graphics: bool) -> list[Process]:
    gpu_instance = target.gpu_instance
    return [
        process
        for process in target.gpu.processes
        if process.graphics == graphics and (gpu_instance is None or process.gpu_instance == gpu_instance.id)
    ]


def _render(processes: list[Process]) -> Values:
    """The number of processes, then PID, memory, GPU and compute instance of each."""
    values = [len(processes)]
    for process in processes:
        values += [process.pid, process.memory, _instance(process.gpu_instance), _instance(process.compute_instance)]
    return values


@answers("nvmlDeviceGetComputeRunningProcesses_v3", "d")
def _compute(call: Call, target: Target) -> Values:
    return _render(_processes(target, graphics=False))


@answers("nvmlDeviceGetGraphicsRunningProcesses_v3", "d")
def _graphics(call: Call, target: Target) -> Values:
    return _render(_processes(target, graphics=True))


@answers("nvmlDeviceGetMPSComputeRunningProcesses_v3", "d")
def _mps(call: Call, target: Target) -> Values:
    return _render([])


@answers("nvmlDeviceGetProcessUtilization", "g")
def _utilization(call: Call, target: Target) -> Values:
    """The number of samples, then PID, time in microseconds, SM, memory, encoder and decoder percent of each."""
    if target.gpu.mig_mode:
        raise NvmlError(Return.NOT_SUPPORTED)
    now = int(time.time() * 1e6)
    busy = [process for process in target.gpu.processes if process.utilization]
    if not busy:
        raise NvmlError(Return.NOT_FOUND)
    values = [len(busy)]
    for process in busy:
        values += [process.pid, now, process.utilization, target.gpu.utilization_memory, 0, 0]
    return values
