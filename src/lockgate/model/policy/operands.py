"""The sections of a ClusterPolicy for what runs on nodes whose GPUs serve containers."""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from lockgate.model.objects import Object
from lockgate.model.policy.parts import (
    Component,
    EnvVar,
    Int32,
    Program,
    Ref,
    ResourceRequirements,
    ServiceMonitor,
    Sidecar,
)


class Toolkit(Component, frozen=True):
    """The container toolkit: makes the container runtime ready for GPUs."""

    ON_BY_DEFAULT: ClassVar[bool] = True

    install_dir: Annotated[str, Meta(description="Where the toolkit is installed on the node")] = "/usr/local/nvidia"


class DevicePluginConfig(Object, frozen=True):
    """Configurations of the device plugin, chosen per node by the label nvidia.com/device-plugin.config."""

    name: Annotated[str, Meta(description="ConfigMap whose keys are configurations")] = ""
    default: Annotated[str, Meta(description="Key for nodes without the label")] = ""


class MPS(Object, frozen=True):
    root: Annotated[str, Meta(description="Folder of MPS on the node")] = "/run/nvidia/mps"


class DevicePlugin(Component, frozen=True):
    """The device plugin: offers the GPUs of a node to Kubernetes."""

    ON_BY_DEFAULT: ClassVar[bool] = True

    config: Annotated[DevicePluginConfig | None, Meta(description="Configurations to choose from")] = None
    mps: Annotated[MPS | None, Meta(description="CUDA's multi-process service")] = None


class DCGM(Component, frozen=True):
    """DCGM as a service of its own on each node."""

    ON_BY_DEFAULT: ClassVar[bool] = True

    host_port: Annotated[Int32 | None, Meta(description="Port on the node")] = None


class ExporterService(Object, frozen=True):
    type: Annotated[str, Meta(description="Type of the Service")] = ""
    internal_traffic_policy: Annotated[str, Meta(description="Cluster or Local")] = ""


class JobMapping(Object, frozen=True):
    """Mapping of GPUs to jobs of a batch system."""

    enabled: Annotated[bool | None, Meta(description="Whether the mapping is read")] = None
    directory: Annotated[str, Meta(description="Folder of the mapping on the node")] = ""


class DCGMExporter(Component, frozen=True):
    """The exporter of GPU metrics."""

    ON_BY_DEFAULT: ClassVar[bool] = True

    config: Annotated[Ref | None, Meta(description="ConfigMap with the list of metrics (dcgm-metrics.csv)")] = None
    annotations: Annotated[dict[str, str], Meta(description="Annotations of the exporter's pods")] = {}
    host_pid: Annotated[bool | None, Meta(description="Whether the pods see the node's processes")] = msgspec.field(
        default=None, name="hostPID"
    )
    enable_pod_labels: Annotated[bool | None, Meta(description="Whether metrics carry the labels of pods")] = None
    enable_pod_uid: Annotated[bool | None, Meta(description="Whether metrics carry the UID of pods")] = msgspec.field(
        default=None, name="enablePodUID"
    )
    pod_label_allowlist_regex: Annotated[tuple[str, ...], Meta(description="Labels of pods that are exported")] = ()
    hpc_job_mapping: Annotated[JobMapping | None, Meta(description="Mapping of GPUs to batch jobs")] = None
    service: Annotated[ExporterService | None, Meta(description="Service in front of the exporter")] = None
    service_monitor: Annotated[ServiceMonitor | None, Meta(description="ServiceMonitor of the exporter")] = None


class NodeStatusExporter(Component, frozen=True):
    """The exporter of the validations' state on each node."""


class GFD(Component, frozen=True):
    """GPU feature discovery: labels nodes with what their GPUs are."""

    ON_BY_DEFAULT: ClassVar[bool] = True


class MIG(Object, frozen=True):
    strategy: Annotated[Literal["none", "single", "mixed"] | None, Meta(description="How MIG devices are offered")] = (
        None
    )


class MIGManagerConfig(Object, frozen=True):
    name: Annotated[str, Meta(description="ConfigMap with MIG configurations")] = ""
    default: Annotated[
        Literal["all-disabled", ""], Meta(description="Configuration of nodes without the label nvidia.com/mig.config")
    ] = "all-disabled"


class MIGManager(Component, frozen=True):
    """The MIG manager: partitions GPUs as the label nvidia.com/mig.config says."""

    ON_BY_DEFAULT: ClassVar[bool] = True

    config: Annotated[MIGManagerConfig | None, Meta(description="MIG configurations")] = None
    gpu_clients_config: Annotated[Ref | None, Meta(description="ConfigMap with host services that use the GPU")] = None


class ValidatorStep(Object, frozen=True):
    env: Annotated[tuple[EnvVar, ...], Meta(description="Environment variables of this step")] = ()


class Validator(Program, frozen=True):
    """The validator: proves driver, toolkit, CUDA and device plugin on each node; it always runs."""

    resources: Annotated[ResourceRequirements, Meta(description="Resources of the validator's containers")] = (
        ResourceRequirements()
    )
    host_network: Annotated[bool | None, Meta(description="Whether the pods use the node's network")] = None

    plugin: Annotated[ValidatorStep | None, Meta(description="Validation of the device plugin")] = None
    toolkit: Annotated[ValidatorStep | None, Meta(description="Validation of the container toolkit")] = None
    driver: Annotated[ValidatorStep | None, Meta(description="Validation of the driver")] = None
    cuda: Annotated[ValidatorStep | None, Meta(description="Validation with a CUDA program")] = None
    vfio_pci: Annotated[ValidatorStep | None, Meta(description="Validation of vfio-pci")] = msgspec.field(
        default=None, name="vfioPCI"
    )
    vgpu_manager: Annotated[ValidatorStep | None, Meta(description="Validation of the vGPU manager")] = None
    vgpu_devices: Annotated[ValidatorStep | None, Meta(description="Validation of vGPU devices")] = None


class GDS(Sidecar, frozen=True):
    """GPUDirect Storage, beside the driver."""


class GDRCopy(Sidecar, frozen=True):
    """GDRCopy, beside the driver."""
