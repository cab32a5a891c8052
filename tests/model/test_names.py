"""Which resource names are devices."""

import pytest

from lockgate.model.names import is_gpu_resource, is_whole_gpu


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/gpu-a100"])
def test_whole_gpus_and_slots_of_them(name: str) -> None:
    assert is_whole_gpu(name) and is_gpu_resource(name)


def test_mig_devices_are_gpus_but_not_whole_ones() -> None:
    assert is_gpu_resource("nvidia.com/mig-1g.5gb") and not is_whole_gpu("nvidia.com/mig-1g.5gb")


@pytest.mark.parametrize("name", ["nvidia.com/gpumem", "nvidia.com/gpucores", "amd.com/gpu", "cpu"])
def test_amounts_and_other_vendors_are_no_devices(name: str) -> None:
    assert not is_gpu_resource(name)
