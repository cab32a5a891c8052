"""The whole spec of a ClusterPolicy (`nvidia.com/v1`), field for field NVIDIA's 26.7 line."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from lockgate.model.objects import Object, Toleration
from lockgate.model.policy.driver import Driver
from lockgate.model.policy.operands import (
    DCGM,
    GDS,
    GFD,
    MIG,
    DCGMExporter,
    DevicePlugin,
    GDRCopy,
    MIGManager,
    NodeStatusExporter,
    Toolkit,
    Validator,
)
from lockgate.model.policy.parts import Free, Image, Int64, ServiceMonitor, Switch
from lockgate.model.policy.sandbox import (
    CCManager,
    KataManager,
    KataSandboxDevicePlugin,
    SandboxDevicePlugin,
    SandboxWorkloads,
    VFIOManager,
    VGPUDeviceManager,
    VGPUManager,
)


class OperatorMetrics(Object, frozen=True):
    service_monitor: Annotated[ServiceMonitor | None, Meta(description="ServiceMonitor of the operator")] = None


class Operator(Object, frozen=True):
    """The operator itself."""

    default_runtime: Annotated[str, Meta(description="Deprecated and without effect: the runtime is detected")] = ""
    runtime_class: Annotated[str, Meta(description="Name of the RuntimeClass of operands and GPU pods")] = "nvidia"
    init_container: Annotated[Image | None, Meta(description="Deprecated and without effect")] = None
    labels: Annotated[dict[str, str], Meta(description="Labels of what the operator makes")] = {}
    annotations: Annotated[dict[str, str], Meta(description="Annotations of what the operator makes")] = {}
    use_ocp_driver_toolkit: Annotated[bool | None, Meta(description="Whether OpenShift's driver toolkit is used")] = (
        msgspec.field(default=None, name="use_ocp_driver_toolkit")
    )
    metrics: Annotated[OperatorMetrics | None, Meta(description="Metrics of the operator")] = None


class RollingUpdate(Object, frozen=True):
    max_unavailable: Annotated[str, Meta(description="Pods (number or percent) that are updated at a time")] = ""


class PolicyToleration(Toleration, frozen=True):
    """A taint that the operands' pods accept."""

    key: Annotated[str, Meta(description="Key of the taint; empty means all, with operator Exists")] = ""
    operator: Annotated[str, Meta(description="Exists or Equal (which is the default)")] = ""
    value: Annotated[str, Meta(description="Value of the taint")] = ""
    effect: Annotated[str, Meta(description="NoSchedule, PreferNoSchedule, NoExecute or, when empty, all")] = ""
    toleration_seconds: Annotated[Int64 | None, Meta(description="Seconds before a NoExecute taint evicts")] = None


class DaemonSets(Object, frozen=True):
    """What all operands' DaemonSets share."""

    labels: Annotated[dict[str, str], Meta(description="Labels of the pods")] = {}
    annotations: Annotated[dict[str, str], Meta(description="Annotations of the pods")] = {}
    tolerations: Annotated[
        tuple[PolicyToleration, ...], Meta(description="Tolerations in place of the operands' own")
    ] = ()
    priority_class_name: Annotated[str, Meta(description="Priority class of the pods")] = ""
    pod_security_context: Annotated[Free, Meta(description="Security context of the pods (core/v1)")] = {}
    update_strategy: Annotated[
        Literal["RollingUpdate", "OnDelete"], Meta(description="How the DaemonSets are updated")
    ] = "RollingUpdate"
    rolling_update: Annotated[RollingUpdate | None, Meta(description="Pace of a rolling update")] = None


class CDI(Object, frozen=True):
    """The container device interface."""

    enabled: Annotated[bool, Meta(description="Whether GPUs reach containers by CDI")] = True
    default: Annotated[bool, Meta(description="Deprecated and without effect")] = False
    nri_plugin_enabled: Annotated[bool, Meta(description="Whether devices are injected by an NRI plugin")] = False


class HostPaths(Object, frozen=True):
    """Where things are on the nodes."""

    root_fs: Annotated[str, Meta(description="Root of the node's file system")] = msgspec.field(
        default="", name="rootFS"
    )
    driver_install_dir: Annotated[str, Meta(description="Root of the installed driver")] = ""
    kubelet_root_dir: Annotated[str, Meta(description="Folder of the kubelet")] = "/var/lib/kubelet"


REQUIRED = {"required": True}


class PolicySpec(Object, frozen=True):
    """What a ClusterPolicy asks for."""

    operator: Annotated[Operator, Meta(description="The operator itself", extra=REQUIRED)] = Operator()
    daemonsets: Annotated[DaemonSets, Meta(description="What all operands' DaemonSets share", extra=REQUIRED)] = (
        DaemonSets()
    )
    driver: Annotated[Driver, Meta(description="The NVIDIA driver", extra=REQUIRED)] = Driver()
    toolkit: Annotated[Toolkit, Meta(description="The container toolkit", extra=REQUIRED)] = Toolkit()
    device_plugin: Annotated[DevicePlugin, Meta(description="The device plugin", extra=REQUIRED)] = DevicePlugin()
    dcgm: Annotated[DCGM, Meta(description="DCGM as a service", extra=REQUIRED)] = DCGM()
    dcgm_exporter: Annotated[DCGMExporter, Meta(description="The exporter of GPU metrics", extra=REQUIRED)] = (
        DCGMExporter()
    )
    node_status_exporter: Annotated[
        NodeStatusExporter, Meta(description="The exporter of node states", extra=REQUIRED)
    ] = NodeStatusExporter()
    gfd: Annotated[GFD, Meta(description="GPU feature discovery", extra=REQUIRED)] = GFD()
    mig: Annotated[MIG, Meta(description="Multi-instance GPUs")] = MIG()
    mig_manager: Annotated[MIGManager, Meta(description="The MIG manager")] = MIGManager()
    validator: Annotated[Validator, Meta(description="The validator")] = Validator()
    cdi: Annotated[CDI, Meta(description="The container device interface")] = CDI()
    gds: Annotated[GDS, Meta(description="GPUDirect Storage")] = GDS()
    gdrcopy: Annotated[GDRCopy, Meta(description="GDRCopy")] = GDRCopy()
    host_paths: Annotated[HostPaths, Meta(description="Paths on the nodes")] = HostPaths()
    psa: Annotated[Switch, Meta(description="Pod security admission labels of the operator's namespace")] = Switch()
    psp: Annotated[Switch, Meta(description="Deprecated and without effect")] = Switch()
    sandbox_workloads: Annotated[SandboxWorkloads, Meta(description="GPUs for virtual machines")] = SandboxWorkloads()
    sandbox_device_plugin: Annotated[SandboxDevicePlugin, Meta(description="Device plugin for KubeVirt")] = (
        SandboxDevicePlugin()
    )
    kata_sandbox_device_plugin: Annotated[KataSandboxDevicePlugin, Meta(description="Device plugin for Kata")] = (
        KataSandboxDevicePlugin()
    )
    vfio_manager: Annotated[VFIOManager, Meta(description="Binds GPUs to vfio-pci")] = VFIOManager()
    vgpu_manager: Annotated[VGPUManager, Meta(description="The vGPU host driver")] = VGPUManager()
    vgpu_device_manager: Annotated[VGPUDeviceManager, Meta(description="Makes vGPU devices")] = VGPUDeviceManager()
    cc_manager: Annotated[CCManager, Meta(description="Confidential computing mode")] = CCManager()
    kata_manager: Annotated[KataManager, Meta(description="Deprecated and without effect")] = KataManager()
