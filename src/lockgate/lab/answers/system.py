"""The driver as a whole: versions, and how a program finds its devices."""

from lockgate.lab.answers.registry import Call, Target, Values, answers
from lockgate.lab.codes import NvmlError, Return
from lockgate.lab.identity import mig_uuid
from lockgate.lab.state import Gpu
from lockgate.lab.wire import Object


@answers("nvmlSystemGetDriverVersion")
def _driver_version(call: Call) -> Values:
    return (call.driver.version,)


@answers("nvmlSystemGetNVMLVersion")
def _nvml_version(call: Call) -> Values:
    return (f"{call.driver.cuda_version // 1000}.{call.driver.version}",)


@answers("nvmlSystemGetCudaDriverVersion_v2")
def _cuda_version(call: Call) -> Values:
    return (call.driver.cuda_version,)


@answers("nvmlSystemGetDriverBranch")
def _driver_branch(call: Call) -> Values:
    return (f"r{call.driver.version.split('.')[0]}_00",)


@answers("nvmlSystemGetProcessName", "u")
def _process_name(call: Call, pid: int) -> Values:
    for gpu in call.gpus:
        for process in gpu.processes:
            if process.pid == pid:
                return (process.name,)
    raise NvmlError(Return.NOT_FOUND)


@answers("nvmlDeviceGetCount_v2")
def _count(call: Call) -> Values:
    return (len(call.gpus),)


@answers("nvmlDeviceGetHandleByIndex_v2", "u")
def _by_index(call: Call, index: int) -> Values:
    if index >= len(call.gpus):
        raise NvmlError(Return.INVALID_ARGUMENT)
    return (_handle(call.gpus[index]),)


@answers("nvmlDeviceGetHandleByUUID", "s")
def _by_uuid(call: Call, uuid: str) -> Values:
    for gpu in call.gpus:
        if gpu.uuid == uuid:
            return (_handle(gpu),)
        for instance in gpu.gpu_instances:
            for compute in instance.compute_instances:
                if mig_uuid(gpu, instance, compute) == uuid:
                    return (Target(gpu, instance, compute).object,)
    raise NvmlError(Return.NOT_FOUND)


@answers("nvmlDeviceGetHandleBySerial", "s")
def _by_serial(call: Call, serial: str) -> Values:
    for gpu in call.gpus:
        if gpu.serial == serial:
            return (_handle(gpu),)
    raise NvmlError(Return.NOT_FOUND)


@answers("nvmlDeviceGetHandleByPciBusId_v2", "s")
def _by_bus_id(call: Call, bus_id: str) -> Values:
    wanted = _full_bus_id(bus_id)
    for gpu in call.gpus:
        if gpu.bus_id == wanted:
            return (_handle(gpu),)
    raise NvmlError(Return.NOT_FOUND)


def _full_bus_id(text: str) -> str:
    """`0000:07:00.0`, `07:00.0` and any case as the eight-digit form; NvmlError when it is no bus id."""
    domain, _, rest = text.upper().rpartition(":")[0].rpartition(":")
    slot = text.upper().rpartition(":")[2]
    try:
        return f"{int(domain or '0', 16):08X}:{int(rest, 16):02X}:{slot}"
    except ValueError as error:
        raise NvmlError(Return.INVALID_ARGUMENT) from error


def _handle(gpu: Gpu) -> Object:
    if gpu.lost:
        raise NvmlError(Return.GPU_IS_LOST)
    return Object((gpu.minor,))
