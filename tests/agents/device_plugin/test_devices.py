"""Which devices a node advertises under each MIG strategy, with and without sharing, and when a GPU is lost."""

from lockgate.agents.device_plugin.devices import Enumeration, enumerate_devices, slots, still_expected
from lockgate.agents.sharing import Replicated, Sharing
from tests.agents.device_plugin.gpus import gpu, mig, snapshot


def _ids(found: Enumeration) -> list[tuple[str, str]]:
    return [(device.resource, device.id) for device in found.devices]


def test_without_a_strategy_every_gpu_is_a_gpu_even_with_mig_on() -> None:
    seen = snapshot(gpu(0), gpu(1, mig_enabled=True, mig=(mig(1, 0),)))
    assert _ids(enumerate_devices(seen, "none", {})) == [("nvidia.com/gpu", "GPU-0"), ("nvidia.com/gpu", "GPU-1")]


def test_a_display_adapter_is_never_advertised() -> None:
    seen = snapshot(gpu(0), gpu(1, name="NVIDIA DGX Display"))
    assert _ids(enumerate_devices(seen, "none", {})) == [("nvidia.com/gpu", "GPU-0")]


def test_single_advertises_mig_devices_as_gpus() -> None:
    seen = snapshot(gpu(0, mig_enabled=True, mig=(mig(0, 0), mig(0, 1))))
    assert _ids(enumerate_devices(seen, "single", {})) == [
        ("nvidia.com/gpu", "MIG-0-0"),
        ("nvidia.com/gpu", "MIG-0-1"),
    ]


def test_single_refuses_a_node_that_is_half_mig() -> None:
    found = enumerate_devices(snapshot(gpu(0), gpu(1, mig_enabled=True, mig=(mig(1, 0),))), "single", {})
    assert not found.devices
    assert found.problem == "all devices on the node must be configured with the same migEnabled value"


def test_single_refuses_a_gpu_without_instances() -> None:
    found = enumerate_devices(snapshot(gpu(0, mig_enabled=True)), "single", {})
    assert found.problem == "device 0 has no MIG devices configured"


def test_single_refuses_several_profiles_and_names_them() -> None:
    devices = (mig(0, 0, "1g.5gb"), mig(0, 1, "2g.10gb"))
    found = enumerate_devices(snapshot(gpu(0, mig_enabled=True, mig=devices)), "single", {})
    assert found.problem == "more than one MIG device type present on node: 1g.5gb, 2g.10gb"


def test_mixed_names_a_resource_after_each_profile() -> None:
    devices = (mig(1, 0, "1g.5gb"), mig(1, 1, "1g.10gb+me"))
    found = enumerate_devices(snapshot(gpu(0), gpu(1, mig_enabled=True, mig=devices)), "mixed", {})
    assert _ids(found) == [
        ("nvidia.com/gpu", "GPU-0"),
        ("nvidia.com/mig-1g.5gb", "MIG-1-0"),
        ("nvidia.com/mig-1g.10gb.me", "MIG-1-1"),
    ]


def test_mixed_leaves_out_part_of_a_gpu_instance_and_says_so() -> None:
    found = enumerate_devices(snapshot(gpu(0, mig_enabled=True, mig=(mig(0, 0, "1c.3g.20gb"),))), "mixed", {})
    assert not found.devices
    assert found.notes == ("MIG profile '1c.3g.20gb' does not match any resource patterns",)


def test_a_mig_device_needs_its_gpu_and_two_capabilities() -> None:
    minors = {"gpu2/gi7/access": 66, "gpu2/gi7/ci0/access": 67, "gpu0/gi7/access": 3}
    seen = snapshot(gpu(0, minor=2, mig_enabled=True, mig=(mig(0, 0),)))
    assert enumerate_devices(seen, "mixed", minors).devices[0].nodes == (
        "/dev/nvidia2",
        "/dev/nvidia-caps/nvidia-cap66",
        "/dev/nvidia-caps/nvidia-cap67",
    )


def test_replicas_get_numbered_ids_and_the_new_name() -> None:
    devices = enumerate_devices(snapshot(gpu(0)), "none", {}).devices
    sharing = Sharing({"nvidia.com/gpu": Replicated(3, "nvidia.com/gpu.shared")})
    assert {name: [slot.id for slot in units] for name, units in slots(devices, sharing).items()} == {
        "nvidia.com/gpu.shared": ["GPU-0::0", "GPU-0::1", "GPU-0::2"]
    }


def test_a_lost_gpu_stays_in_the_list() -> None:
    before = enumerate_devices(snapshot(gpu(0), gpu(1)), "none", {}).devices
    seen = snapshot(gpu(0), lost=(1,))
    kept = still_expected(before, enumerate_devices(seen, "none", {}), seen)
    assert [device.id for device in kept] == ["GPU-0", "GPU-1"]


def test_a_gpu_that_was_taken_out_leaves_the_list() -> None:
    before = enumerate_devices(snapshot(gpu(0), gpu(1)), "none", {}).devices
    seen = snapshot(gpu(0))
    assert [device.id for device in still_expected(before, enumerate_devices(seen, "none", {}), seen)] == ["GPU-0"]


def test_mig_devices_that_were_reconfigured_leave_while_another_gpu_is_lost() -> None:
    before = enumerate_devices(
        snapshot(gpu(0, mig_enabled=True, mig=(mig(0, 0), mig(0, 1))), gpu(1)), "mixed", {}
    ).devices
    seen = snapshot(gpu(0, mig_enabled=True, mig=(mig(0, 0),)), lost=(1,))
    kept = still_expected(before, enumerate_devices(seen, "mixed", {}), seen)
    assert [device.id for device in kept] == ["MIG-0-0", "GPU-1"]
