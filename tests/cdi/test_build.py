import msgspec
import pytest

from lockgate.cdi.build import Gpu, Place, gpu_spec, management_spec, plugin_spec
from lockgate.cdi.driver_files import DriverFiles, File, Library, Part
from lockgate.cdi.render import file_name, render_json, render_yaml
from lockgate.cdi.spec import Spec

DRIVER = DriverFiles(
    version="580.95.05",
    machine="x86_64-linux-gnu",
    libraries=(
        Library(path="/usr/lib64/libcuda.so.580.95.05", names=("libcuda.so.1", "libcuda.so")),
        Library(path="/usr/lib64/libnvidia-ml.so.580.95.05", names=("libnvidia-ml.so.1",)),
    ),
    binaries=(File(path="/usr/bin/nvidia-smi", container_path="/usr/bin/nvidia-smi"),),
    sockets=(File(path="/run/nvidia-persistenced/socket", container_path="/run/nvidia-persistenced/socket"),),
)
GPUS = (
    Gpu(index="1", uuid="GPU-b", nodes=("/dev/nvidia1",)),
    Gpu(index="0", uuid="GPU-a", nodes=("/dev/nvidia0",)),
)
NODES = ("/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools")
CONTAINERISED = Place(driver_root="/run/nvidia/driver")


def spec() -> Spec:
    return gpu_spec(DRIVER, GPUS, NODES, CONTAINERISED)


def names(spec: Spec) -> list[str]:
    return [device.name for device in spec.devices]


def targets(spec: Spec) -> set[str]:
    return {mount.container_path for mount in spec.container_edits.mounts if mount}


def test_every_gpu_has_its_index_its_uuid_and_a_share_in_all() -> None:
    assert names(spec()) == ["0", "1", "GPU-a", "GPU-b", "all"]
    everything = spec().devices[-1].container_edits.device_nodes
    assert [node.path for node in everything if node] == ["/dev/nvidia0", "/dev/nvidia1"]


@pytest.mark.parametrize(
    ("namings", "expected"),
    [
        (("index",), ["0", "0:1", "all"]),
        (("uuid",), ["GPU-a", "MIG-x", "all"]),
        (("type-index",), ["all", "gpu0", "mig0:1"]),
        (("type-index", "uuid"), ["GPU-a", "MIG-x", "all", "gpu0", "mig0:1"]),
    ],
)
def test_each_naming_has_its_names(namings: tuple[str, ...], expected: list[str]) -> None:
    gpus = (
        Gpu(index="0", uuid="GPU-a", nodes=("/dev/nvidia0",)),
        Gpu(index="0:1", uuid="MIG-x", nodes=("/dev/nvidia0",)),
    )
    assert names(gpu_spec(DRIVER, gpus, NODES, CONTAINERISED, namings)) == expected


def test_graphics_go_to_containers_with_gpus_and_management_to_the_others() -> None:
    driver = msgspec.structs.replace(
        DRIVER,
        graphics=Part(files=(File(path="/vulkan/icd.d/a.json", container_path="/etc/vulkan/icd.d/a.json"),)),
        management=Part(libraries=(Library(path="/usr/lib64/libnvsdm.so.1", names=("libnvsdm.so.1",)),)),
    )
    with_gpus = gpu_spec(driver, GPUS, NODES, CONTAINERISED), plugin_spec(driver, GPUS, NODES, CONTAINERISED)
    for built in with_gpus:
        assert "/etc/vulkan/icd.d/a.json" in targets(built)
        assert "/usr/lib64/libnvsdm.so.1" not in targets(built)
    management = targets(management_spec(driver, NODES, CONTAINERISED))
    assert "/etc/vulkan/icd.d/a.json" not in management
    assert "/usr/lib64/libnvsdm.so.1" in management


def test_the_plugin_names_gpus_by_uuid_only() -> None:
    built = plugin_spec(DRIVER, GPUS, NODES, CONTAINERISED)
    assert (built.kind, names(built)) == ("k8s.device-plugin.nvidia.com/gpu", ["GPU-a", "GPU-b"])


def test_management_has_every_device_but_the_fabrics() -> None:
    built = management_spec(DRIVER, (*NODES, "/dev/nvidia-caps/nvidia-cap1", "/dev/nvidia-nvswitch0"), CONTAINERISED)
    assert (built.kind, names(built)) == ("management.nvidia.com/gpu", ["all"])
    assert [node.path for node in built.devices[0].container_edits.device_nodes if node] == [
        "/dev/nvidia-caps/nvidia-cap1", "/dev/nvidia0", "/dev/nvidia1",
    ]  # fmt: skip


def test_only_control_nodes_that_exist_are_named_and_without_numbers() -> None:
    nodes = spec().container_edits.device_nodes
    assert [node.path for node in nodes if node] == ["/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidiactl"]
    assert not [node for node in nodes if node and (node.major or node.minor or node.type)]


def test_libraries_lie_where_every_loader_looks_under_the_names_that_programs_use() -> None:
    targets = {m.container_path: m.host_path for m in spec().container_edits.mounts if m}
    for directory in ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"):
        for name in ("libcuda.so.1", "libcuda.so"):
            assert targets[f"{directory}/{name}"] == "/run/nvidia/driver/usr/lib64/libcuda.so.580.95.05"
        assert f"{directory}/libnvidia-ml.so.1" in targets


def test_mounts_are_read_only_without_devices_and_a_socket_may_be_written_to() -> None:
    options = {m.container_path: m.options for m in spec().container_edits.mounts if m}
    assert options["/usr/bin/nvidia-smi"] == ("ro", "nosuid", "nodev", "rbind", "rprivate")
    assert options["/run/nvidia-persistenced/socket"] == ("nosuid", "nodev", "noexec", "rbind", "rprivate")


def test_there_is_never_a_hook_and_nvidias_runtime_is_told_to_stay_out() -> None:
    for built in (spec(), plugin_spec(DRIVER, GPUS, NODES, Place()), management_spec(DRIVER, NODES, Place())):
        assert not built.container_edits.hooks
        assert not any(device.container_edits.hooks for device in built.devices)
        assert built.container_edits.env == ("NVIDIA_VISIBLE_DEVICES=void",)


def test_devices_under_another_dev_root_have_a_host_path() -> None:
    built = gpu_spec(DRIVER, GPUS, NODES, Place(driver_root="/run/nvidia/driver", dev_root="/run/nvidia/driver"))
    node = built.devices[0].container_edits.device_nodes[0]
    assert node is not None
    assert (node.path, node.host_path) == ("/dev/nvidia0", "/run/nvidia/driver/dev/nvidia0")


def test_a_mig_device_has_its_gpus_node_and_its_capabilities() -> None:
    capabilities = ("/dev/nvidia-caps/nvidia-cap30", "/dev/nvidia-caps/nvidia-cap31")
    mig = Gpu(index="0:1", uuid="MIG-x", nodes=("/dev/nvidia0", *capabilities))
    built = gpu_spec(DRIVER, (mig,), NODES, CONTAINERISED)
    assert names(built) == ["0:1", "MIG-x", "all"]
    assert len(built.devices[1].container_edits.device_nodes) == 3


def test_the_version_is_the_lowest_that_the_content_needs() -> None:
    assert spec().cdi_version == "0.5.0"  # a device name begins with a digit
    assert plugin_spec(DRIVER, GPUS, NODES, CONTAINERISED).cdi_version == "0.3.0"


def test_the_same_input_in_any_order_gives_the_same_bytes() -> None:
    other = gpu_spec(DRIVER, reversed(GPUS), reversed(NODES), CONTAINERISED)
    assert render_yaml(other) == render_yaml(spec())
    assert render_json(other) == render_json(spec())


def test_json_and_yaml_say_the_same() -> None:
    assert msgspec.yaml.decode(render_yaml(spec()), type=Spec) == msgspec.json.decode(render_json(spec()), type=Spec)
    assert msgspec.json.decode(render_json(spec()), type=Spec) == spec()


def test_without_gpus_there_is_nothing_to_write() -> None:
    assert gpu_spec(DRIVER, (), NODES, CONTAINERISED).devices == ()


def test_file_names_are_those_of_nvidias_tools() -> None:
    assert file_name("nvidia.com/gpu", "yaml") == "nvidia.com-gpu.yaml"
    assert file_name("k8s.device-plugin.nvidia.com/gpu", "json") == "k8s.device-plugin.nvidia.com-gpu.json"
