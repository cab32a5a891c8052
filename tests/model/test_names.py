"""Which resource names are devices."""

import pytest

from lockgate.model.names import is_gpu_resource, is_unread_pci_label, is_whole_gpu


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/gpu-a100"])
def test_whole_gpus_and_slots_of_them(name: str) -> None:
    assert is_whole_gpu(name) and is_gpu_resource(name)


def test_mig_devices_are_gpus_but_not_whole_ones() -> None:
    assert is_gpu_resource("nvidia.com/mig-1g.5gb") and not is_whole_gpu("nvidia.com/mig-1g.5gb")


@pytest.mark.parametrize(
    "name", ["nvidia.com/gpumem", "nvidia.com/gpucores", "volcano.sh/vgpu-memory", "amd.com/gpu", "cpu"]
)
def test_amounts_and_other_vendors_are_no_devices(name: str) -> None:
    assert not is_gpu_resource(name)


@pytest.mark.parametrize("shape", ["0302_10de_20b5", "10de_20b5", "0380_10de", "1200_10de_2330", "0302_20b5_10de"])
def test_other_shapes_of_nvidias_devices_are_labels_that_nobody_reads(shape: str) -> None:
    assert is_unread_pci_label(f"feature.node.kubernetes.io/pci-{shape}.present")


@pytest.mark.parametrize("shape", ["10de", "0302_10de", "0300_10de", "0403_10de", "15b3_10de", "0200_15b3", "1002"])
def test_labels_that_are_read_and_other_devices_are_none_of_those(shape: str) -> None:
    assert not is_unread_pci_label(f"feature.node.kubernetes.io/pci-{shape}.present")


def test_volcanos_slots_are_gpus_but_not_whole_ones() -> None:
    assert is_gpu_resource("volcano.sh/vgpu-number") and not is_whole_gpu("volcano.sh/vgpu-number")
