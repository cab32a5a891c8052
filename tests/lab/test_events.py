"""Events reach the sets that registered for them, in time; a lost GPU is lost for everyone."""

import ctypes
import threading
import time
from collections.abc import Callable
from types import ModuleType

import pytest

from lockgate.lab.launch import SimulatedMachine, running_simulator


def _registered(nvml: ModuleType, index: int = 0) -> object:
    events = nvml.nvmlEventSetCreate()
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    nvml.nvmlDeviceRegisterEvents(handle, nvml.nvmlEventTypeXidCriticalError, events)
    return events


def test_an_xid_arrives_while_someone_waits(nvml: ModuleType, machine: SimulatedMachine) -> None:
    events = _registered(nvml, 1)
    threading.Timer(0.1, machine.control.xid, (1, 48)).start()

    started = time.monotonic()
    event = nvml.nvmlEventSetWait_v2(events, 5000)

    assert time.monotonic() - started < 2
    assert (event.eventType, event.eventData) == (nvml.nvmlEventTypeXidCriticalError, 48)
    assert event.gpuInstanceId == event.computeInstanceId == 0xFFFFFFFF
    assert nvml.nvmlDeviceGetUUID(event.device) == machine.control.gpus()[1].uuid
    nvml.nvmlEventSetFree(events)


def test_an_event_before_the_wait_is_kept(nvml: ModuleType, machine: SimulatedMachine) -> None:
    events = _registered(nvml)

    assert machine.control.xid(0, 13) == 1
    assert machine.control.xid(0, 31) == 1

    assert [nvml.nvmlEventSetWait_v2(events, 0).eventData for _ in range(2)] == [13, 31]
    nvml.nvmlEventSetFree(events)


def test_a_wait_ends_with_a_timeout(nvml: ModuleType) -> None:
    events = _registered(nvml)

    started = time.monotonic()
    with pytest.raises(nvml.NVMLError_Timeout):
        nvml.nvmlEventSetWait_v2(events, 200)

    assert 0.15 < time.monotonic() - started < 2
    nvml.nvmlEventSetFree(events)


def test_nobody_hears_what_nobody_registered_for(nvml: ModuleType, machine: SimulatedMachine) -> None:
    events = _registered(nvml, 0)

    assert machine.control.xid(1, 79) == 0
    assert machine.control.event(0, nvml.nvmlEventTypeClock) == 0
    with pytest.raises(nvml.NVMLError_Timeout):
        nvml.nvmlEventSetWait_v2(events, 50)
    nvml.nvmlEventSetFree(events)


def test_other_calls_go_on_while_a_thread_waits(nvml: ModuleType) -> None:
    events = _registered(nvml)
    event = nvml.c_nvmlEventData_t()
    waiter = threading.Thread(target=nvml.nvmlLib.nvmlEventSetWait_v2, args=(events, ctypes.byref(event), 600))
    waiter.start()

    started = time.monotonic()
    for _ in range(50):
        nvml.nvmlDeviceGetCount()

    assert time.monotonic() - started < 0.5
    waiter.join()
    nvml.nvmlEventSetFree(events)


def test_a_set_that_was_freed_is_no_set(nvml: ModuleType) -> None:
    events = nvml.nvmlEventSetCreate()
    nvml.nvmlEventSetFree(events)

    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlEventSetWait_v2(events, 10)
    with pytest.raises(nvml.NVMLError_InvalidArgument):
        nvml.nvmlEventSetFree(events)


def test_events_that_no_gpu_has_cannot_be_registered(nvml: ModuleType) -> None:
    events = nvml.nvmlEventSetCreate()
    handle = nvml.nvmlDeviceGetHandleByIndex(0)

    assert nvml.nvmlDeviceGetSupportedEventTypes(handle) & nvml.nvmlEventTypeXidCriticalError
    with pytest.raises(nvml.NVMLError_NotSupported):
        nvml.nvmlDeviceRegisterEvents(handle, 1 << 40, events)
    nvml.nvmlEventSetFree(events)


def test_a_lost_gpu_raises_its_xid_and_answers_no_more(nvml: ModuleType, machine: SimulatedMachine) -> None:
    events = _registered(nvml, 1)
    lost, other = nvml.nvmlDeviceGetHandleByIndex(1), nvml.nvmlDeviceGetHandleByIndex(0)

    machine.control.lose(1)

    assert nvml.nvmlEventSetWait_v2(events, 1000).eventData == 79
    for call in (
        lambda: nvml.nvmlDeviceGetUUID(lost),
        lambda: nvml.nvmlDeviceGetMemoryInfo(lost),
        lambda: nvml.nvmlDeviceGetHandleByIndex(1),
        lambda: nvml.nvmlDeviceRegisterEvents(lost, nvml.nvmlEventTypeXidCriticalError, events),
    ):
        with pytest.raises(nvml.NVMLError_GpuIsLost):
            call()
    assert nvml.nvmlDeviceGetCount() == 2
    assert nvml.nvmlDeviceGetIndex(other) == 0

    machine.control.restore(1)
    assert nvml.nvmlDeviceGetIndex(lost) == 1
    nvml.nvmlEventSetFree(events)


def test_an_xid_is_in_the_kernel_log(machine: SimulatedMachine) -> None:
    machine.control.lose(1)

    above, below = machine.control.kernel_log()
    assert above.endswith(f"NVRM: GPU at PCI:0000:0f:00: {machine.control.gpus()[1].uuid}")
    assert below.endswith(
        "NVRM: Xid (PCI:0000:0f:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
    )


@pytest.fixture
def restarted(load_nvml: Callable[[], ModuleType], machine: SimulatedMachine) -> ModuleType:
    """NVML in a process that outlives a simulator: the machine's own one is replaced during the test."""
    return load_nvml()


def test_a_program_survives_a_restart_of_the_simulator(restarted: ModuleType, machine: SimulatedMachine) -> None:
    nvml, options = restarted, ["--gpus", "2xA100-SXM4-40GB"]
    with running_simulator(machine.socket, options):
        nvml.nvmlInit()
        handle = nvml.nvmlDeviceGetHandleByIndex(0)
        uuid = nvml.nvmlDeviceGetUUID(handle)
        events = _registered(nvml)
    with pytest.raises(nvml.NVMLError_Unknown):
        nvml.nvmlDeviceGetUUID(handle)

    with running_simulator(machine.socket, options):
        assert nvml.nvmlDeviceGetUUID(handle) == uuid
        threading.Timer(0.2, machine.control.xid, (0, 79)).start()
        assert nvml.nvmlEventSetWait_v2(events, 5000).eventData == 79
        nvml.nvmlShutdown()
