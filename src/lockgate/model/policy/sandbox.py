"""The sections of a ClusterPolicy for nodes whose GPUs serve virtual machines."""

from typing import Annotated, Literal

from msgspec import Meta

from lockgate.model.objects import Object
from lockgate.model.policy.parts import Component, DriverManager, Ref


class SandboxWorkloads(Object, frozen=True):
    """Whether nodes may give their GPUs to virtual machines (label nvidia.com/gpu.workload.config)."""

    enabled: Annotated[bool | None, Meta(description="Whether nodes may be given to virtual machines")] = None
    default_workload: Annotated[
        Literal["container", "vm-passthrough", "vm-vgpu"], Meta(description="Workload of nodes without the label")
    ] = "container"
    mode: Annotated[Literal["kubevirt", "kata"], Meta(description="Who runs the virtual machines")] = "kubevirt"


class SandboxDevicePlugin(Component, frozen=True):
    """The device plugin for virtual machines of KubeVirt."""


class KataSandboxDevicePlugin(Component, frozen=True):
    """The device plugin for virtual machines of Kata Containers."""


class VFIOManager(Component, frozen=True):
    """Binds GPUs to vfio-pci."""

    driver_manager: Annotated[DriverManager, Meta(description="The driver manager")] = DriverManager()


class VGPUManager(Component, frozen=True):
    """The vGPU host driver."""

    driver_manager: Annotated[DriverManager, Meta(description="The driver manager")] = DriverManager()
    kernel_module_config: Annotated[Ref | None, Meta(description="ConfigMap with parameters of kernel modules")] = None


class VGPUDevicesConfig(Object, frozen=True):
    name: Annotated[str, Meta(description="ConfigMap with vGPU device configurations")] = ""
    default: Annotated[str, Meta(description="Configuration of nodes without the label")] = "default"


class VGPUDeviceManager(Component, frozen=True):
    """Makes vGPU devices."""

    config: Annotated[VGPUDevicesConfig | None, Meta(description="vGPU device configurations")] = None


class CCManager(Component, frozen=True):
    """Sets the confidential computing mode of GPUs."""

    default_mode: Annotated[
        Literal["on", "off", "devtools"] | None, Meta(description="Mode of nodes without a label")
    ] = None


class KataArtifacts(Object, frozen=True):
    url: Annotated[str, Meta(description="Where the artifacts are", extra={"required": True})] = ""
    pull_secret: Annotated[str, Meta(description="Secret that pulls them")] = ""


class KataRuntimeClass(Object, frozen=True):
    name: Annotated[str, Meta(description="Name of the RuntimeClass", extra={"required": True})] = ""
    node_selector: Annotated[dict[str, str], Meta(description="Nodes that offer it")] = {}
    artifacts: Annotated[KataArtifacts, Meta(description="Its files", extra={"required": True})] = KataArtifacts()


class KataConfig(Object, frozen=True):
    artifacts_dir: Annotated[str, Meta(description="Folder of the artifacts on the node")] = (
        "/opt/nvidia-gpu-operator/artifacts/runtimeclasses"
    )
    runtime_classes: Annotated[tuple[KataRuntimeClass, ...], Meta(description="RuntimeClasses")] = ()


class KataManager(Component, frozen=True):
    """Deprecated and without effect, as in NVIDIA's operator."""

    config: Annotated[KataConfig | None, Meta(description="Without effect")] = None
