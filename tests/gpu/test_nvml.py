"""The NVML door against the simulated driver behind NVML's C interface."""

import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.gpu.events import EventThread
from lockgate.gpu.library import UnavailableError
from lockgate.gpu.nvml import Nvml
from lockgate.gpu.topology import read_pairs
from lockgate.gpu.values import Capability, Event, Reason, Unread, XidEvent
from tests.agents.machine import Machine, machine


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    with machine("2xA100-SXM4-40GB") as started:
        monkeypatch.setenv("LOCKGATE_SIMULATOR_DEV", str(started.dev))
        yield started


@pytest.fixture
def nvml(made: Machine) -> Iterator[Nvml]:
    door = Nvml(made.root, made.folder / "sys")
    door.open()
    yield door
    door.close()


def test_a_snapshot_holds_every_gpu_as_values(nvml: Nvml, made: Machine) -> None:
    seen = nvml.snapshot()
    assert (seen.driver_version, seen.cuda_version, seen.unreadable) == ("580.95.05", 13000, ())
    assert [gpu.uuid for gpu in seen.gpus] == made.uuids
    first = seen.gpus[0]
    assert (first.index, first.minor, first.name) == (0, 0, "NVIDIA A100-SXM4-40GB")
    assert (first.memory_mib, first.capability, first.mig_enabled) == (40960, Capability(8, 0), False)
    assert (first.pci_class, first.numa_node, first.recovery_action) == (0x030200, 0, 0)


def test_two_snapshots_of_the_same_gpus_are_equal(nvml: Nvml) -> None:
    assert nvml.snapshot() == nvml.snapshot()


def test_a_lost_gpu_does_not_spoil_the_others(nvml: Nvml, made: Machine) -> None:
    made.control.lose(0)
    seen = nvml.snapshot()
    assert [gpu.uuid for gpu in seen.gpus] == made.uuids[1:]
    assert [(gpu.index, gpu.why.reason) for gpu in seen.unreadable] == [(0, Reason.LOST)]
    made.control.restore(0)
    assert len(nvml.snapshot().gpus) == 2


def test_a_gpu_whose_device_node_is_missing_is_not_there(made: Machine) -> None:
    (made.dev / "nvidia1").unlink()
    door = Nvml(made.root)
    door.open()
    assert [gpu.uuid for gpu in door.snapshot().gpus] == made.uuids[:1]
    door.close()


def test_one_value_that_cannot_be_read_says_why(nvml: Nvml, made: Machine) -> None:
    made.control.fail("nvmlDeviceGetCudaComputeCapability", 999)
    capability = nvml.snapshot().gpus[0].capability
    assert isinstance(capability, Unread)
    assert capability.reason is Reason.OTHER


def test_mig_devices_come_with_profile_and_instances(nvml: Nvml, made: Machine) -> None:
    compute = {"id": 0, "profile": 0, "start": 0, "size": 1}
    small = {"id": 7, "profile": 19, "start": 0, "size": 1, "compute_instances": [compute]}
    double = {"id": 3, "profile": 15, "start": 2, "size": 2, "compute_instances": [compute]}
    made.control.set(1, mig_mode=True, mig_pending=True, gpu_instances=[small, double])
    whole, divided = nvml.snapshot().gpus
    assert (whole.mig_enabled, whole.mig) == (False, ())
    assert divided.mig_enabled
    assert sorted((mig.profile, mig.gpu_instance, mig.compute_instance) for mig in divided.mig) == [
        ("1g.10gb", 3, 0),
        ("1g.5gb", 7, 0),
    ]
    assert all(mig.uuid.startswith("MIG-") for mig in divided.mig)
    assert {mig.profile: mig.memory_mib for mig in divided.mig} == {"1g.5gb": 4864, "1g.10gb": 9856}


def test_without_a_library_every_folder_searched_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError) as error:
        Nvml(tmp_path).open()
    assert error.value.why.reason is Reason.LIBRARY_NOT_FOUND
    assert f"the driver root {tmp_path}" in str(error.value)
    assert "usr/lib64" in str(error.value)


def test_a_library_that_is_none_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "usr/lib64"
    folder.mkdir(parents=True)
    (folder / "libnvidia-ml.so.1").write_text("not a library")
    with pytest.raises(UnavailableError, match=r"usr/lib64/libnvidia-ml\.so\.1 cannot be loaded"):
        Nvml(tmp_path).open()


def test_a_driver_that_goes_and_comes_can_be_opened_again(nvml: Nvml, made: Machine) -> None:
    made.control.unload_driver()
    with pytest.raises(UnavailableError) as error:
        nvml.snapshot()
    assert error.value.why.reason is Reason.DRIVER_NOT_LOADED
    nvml.close()
    made.control.load_driver()
    nvml.open()
    assert len(nvml.snapshot().gpus) == 2


def test_another_kernel_module_than_the_library_is_a_version_mismatch(made: Machine) -> None:
    made.control.load_driver("590.10.01")
    with pytest.raises(UnavailableError) as error:
        Nvml(made.root).open()
    assert error.value.why.reason is Reason.VERSION_MISMATCH


def test_a_replaced_library_makes_the_door_stale(nvml: Nvml, made: Machine) -> None:
    assert not nvml.stale
    folder = made.root / "usr/lib/x86_64-linux-gnu"
    (folder / "libnvidia-ml.so.580.95.05").rename(folder / "libnvidia-ml.so.590.10.01")
    assert not nvml.stale  # while an upgrade is on its way there may be none
    (folder / "libnvidia-ml.so.1").unlink()
    (folder / "libnvidia-ml.so.1").symlink_to("libnvidia-ml.so.590.10.01")
    assert nvml.stale


def test_pairs_tell_how_near_gpus_are(nvml: Nvml) -> None:
    seen = nvml.snapshot()
    (pair,) = read_pairs(seen.gpus)
    assert {pair.one, pair.other} == {gpu.uuid for gpu in seen.gpus}


def test_pairs_of_a_lost_gpu_are_absent(nvml: Nvml, made: Machine) -> None:
    seen = nvml.snapshot()
    made.control.lose(1)
    assert read_pairs(seen.gpus) == ()


@pytest.fixture
def events(nvml: Nvml, made: Machine) -> Iterator["queue.Queue[Event]"]:
    heard: queue.Queue[Event] = queue.Queue()
    thread = EventThread(made.uuids, heard.put)
    thread.start()
    while made.control.xid(0, 13) == 0:  # until it listens
        pass
    heard.get(timeout=5)
    yield heard
    thread.stop()


def test_an_xid_is_heard_with_its_gpu(events: "queue.Queue[Event]", made: Machine) -> None:
    made.control.xid(1, 63)
    assert events.get(timeout=5) == XidEvent(made.uuids[1], 63)


def test_the_xid_of_a_gpu_that_is_lost_at_once_still_names_it(events: "queue.Queue[Event]", made: Machine) -> None:
    made.control.lose(1, xid=79)
    assert events.get(timeout=5) == XidEvent(made.uuids[1], 79)


def test_an_xid_of_a_mig_instance_names_the_instance(events: "queue.Queue[Event]", made: Machine) -> None:
    made.control.event(0, 8, 94, gpu_instance=7, compute_instance=0)
    assert events.get(timeout=5) == XidEvent(made.uuids[0], 94, gpu_instance=7, compute_instance=0)
