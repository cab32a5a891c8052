"""What a container gets under each strategy, and which requests are refused in which words."""

import pytest

from lockgate.agents.device_plugin.allocation import Manner, allocate
from lockgate.agents.device_plugin.devices import Slot, enumerate_devices, slots
from lockgate.agents.sharing import Replicated, Sharing
from lockgate.kubelet.device_plugin_server import RefusedError
from lockgate.kubelet.messages import Allocation, DeviceSpec, Mount
from tests.agents.device_plugin.gpus import gpu, snapshot

NODES = frozenset(("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0", "/dev/nvidia1"))
DEVICES = enumerate_devices(snapshot(gpu(0), gpu(1)), "none", {}).devices
GPU = "nvidia.com/gpu"


def _slots(replicas: int = 1) -> dict[str, Slot]:
    sharing = Sharing({GPU: Replicated(replicas, GPU)}) if replicas > 1 else Sharing()
    return {slot.id: slot for slot in slots(DEVICES, sharing)[GPU]}


def _allocate(*ids: str, replicas: int = 1, **manner: object) -> Allocation:
    full: dict[str, object] = {"strategies": frozenset(("cdi-cri",))} | manner
    return allocate(GPU, ids, _slots(replicas), Manner(**full), NODES, "token")  # type: ignore[arg-type]


def test_by_cdi_the_answer_is_names_and_nothing_else() -> None:
    assert _allocate("GPU-0", "GPU-1") == Allocation(
        cdi_devices=("k8s.device-plugin.nvidia.com/gpu=GPU-0", "k8s.device-plugin.nvidia.com/gpu=GPU-1")
    )


def test_cdi_names_are_uuids_even_when_the_environment_has_indexes() -> None:
    given = _allocate("GPU-1", strategies=frozenset(("envvar", "cdi-cri")), by_index=True)
    assert given.envs == {"NVIDIA_VISIBLE_DEVICES": "1"}
    assert given.cdi_devices == ("k8s.device-plugin.nvidia.com/gpu=GPU-1",)


def test_by_annotation_the_names_are_joined_under_a_key_of_their_own() -> None:
    given = _allocate("GPU-0", "GPU-1", strategies=frozenset(("cdi-annotations",)), annotation_prefix="cdi.k8s.io/")
    names = "k8s.device-plugin.nvidia.com/gpu=GPU-0,k8s.device-plugin.nvidia.com/gpu=GPU-1"
    assert given == Allocation(annotations={"cdi.k8s.io/nvidia-device-plugin_token": names})


def test_by_environment_the_ids_are_listed() -> None:
    assert _allocate("GPU-1", "GPU-0", strategies=frozenset(("envvar",))) == Allocation(
        envs={"NVIDIA_VISIBLE_DEVICES": "GPU-1,GPU-0"}
    )


def test_by_volume_mounts_each_device_is_an_empty_mount() -> None:
    given = _allocate("GPU-0", strategies=frozenset(("volume-mounts", "envvar")))
    assert given.envs == {"NVIDIA_VISIBLE_DEVICES": "/var/run/nvidia-container-devices"}
    assert given.mounts == (Mount("/dev/null", "/var/run/nvidia-container-devices/GPU-0", read_only=False),)


def test_device_specs_are_the_control_nodes_that_exist_and_the_devices_own() -> None:
    given = _allocate("GPU-1", pass_device_specs=True, dev_root="/run/nvidia/driver")
    assert given.devices == tuple(
        DeviceSpec(f"/run/nvidia/driver{node}", node, "rw")
        for node in ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia1")
    )


def test_two_replicas_of_a_gpu_are_one_device() -> None:
    given = _allocate("GPU-0::0", "GPU-0::1", replicas=2)
    assert given.cdi_devices == ("k8s.device-plugin.nvidia.com/gpu=GPU-0",)


def test_an_unknown_device_is_refused_in_nvidias_words() -> None:
    with pytest.raises(RefusedError) as refused:
        _allocate("GPU-7")
    assert str(refused.value) == (
        'invalid allocation request for "nvidia.com/gpu": invalid request: unknown device: GPU-7'
    )


def test_more_than_one_shared_device_is_refused_when_so_configured() -> None:
    with pytest.raises(RefusedError, match="maximum request size for shared resources is 1; found 2"):
        _allocate("GPU-0::0", "GPU-1::0", replicas=2, one_per_request=True)
    assert _allocate("GPU-0::0", replicas=2, one_per_request=True).cdi_devices
