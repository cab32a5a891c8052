"""The driver's section of a ClusterPolicy."""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from lockgate.model.objects import Object
from lockgate.model.policy.parts import Component, DriverManager, Int32, Ref

Seconds = Annotated[int, Meta(ge=0)]
Positive = Annotated[int, Meta(ge=1, extra_json_schema={"format": "int32"})]


class Probe(Object, frozen=True):
    """Timing of a probe of the driver's container."""

    initial_delay_seconds: Annotated[Int32 | None, Meta(description="Seconds before the first probe")] = None
    timeout_seconds: Annotated[Positive | None, Meta(description="Seconds after which a probe fails")] = None
    period_seconds: Annotated[Positive | None, Meta(description="Seconds between two probes")] = None
    success_threshold: Annotated[Positive | None, Meta(description="Successes in a row that count as healthy")] = None
    failure_threshold: Annotated[Positive | None, Meta(description="Failures in a row that count as failed")] = None


class RDMA(Object, frozen=True):
    """GPUDirect RDMA."""

    enabled: Annotated[bool | None, Meta(description="Whether GPUDirect RDMA is set up")] = None
    use_host_mofed: Annotated[bool | None, Meta(description="Whether MOFED is installed on the node itself")] = None


class PodDeletion(Object, frozen=True):
    """How pods that use a GPU are evicted before the driver is replaced."""

    force: Annotated[bool, Meta(description="Whether pods without a controller are deleted as well")] = False
    timeout_seconds: Annotated[Seconds, Meta(description="Seconds to wait for the pods; 0 waits for ever")] = 300
    delete_empty_dir: Annotated[bool, Meta(description="Whether pods with emptyDir volumes are deleted")] = False


class Drain(Object, frozen=True):
    """How a node is drained when deleting the GPU pods was not enough."""

    enable: Annotated[bool, Meta(description="Whether nodes are drained")] = False
    force: Annotated[bool, Meta(description="Whether pods without a controller are deleted as well")] = False
    pod_selector: Annotated[str, Meta(description="Label selector of the pods that are drained; empty means all")] = ""
    timeout_seconds: Annotated[Seconds, Meta(description="Seconds to wait for the drain; 0 waits for ever")] = 300
    delete_empty_dir: Annotated[bool, Meta(description="Whether pods with emptyDir volumes are deleted")] = False


class WaitForCompletion(Object, frozen=True):
    """Jobs that are waited for before a node is upgraded."""

    pod_selector: Annotated[str, Meta(description="Label selector of the pods that are waited for")] = ""
    timeout_seconds: Annotated[Seconds, Meta(description="Seconds to wait for them; 0 waits for ever")] = 0


class UpgradePolicy(Object, frozen=True):
    """How the driver is upgraded from node to node."""

    auto_upgrade: Annotated[bool, Meta(description="Whether the operator upgrades drivers at all")] = False
    max_parallel_upgrades: Annotated[
        int, Meta(ge=0, description="Nodes that are upgraded at the same time; 0 means no limit")
    ] = 1
    max_unavailable: Annotated[
        int | str | None, Meta(description="Nodes (number or percent) that may be unavailable at the same time")
    ] = "25%"
    pod_deletion: Annotated[PodDeletion | None, Meta(description="Deletion of pods that use a GPU")] = None
    wait_for_completion: Annotated[WaitForCompletion | None, Meta(description="Jobs that are waited for")] = None
    drain: Annotated[Drain | None, Meta(description="Draining of the node")] = None


class LicensingConfig(Object, frozen=True):
    """Licence of a vGPU driver."""

    config_map_name: Annotated[str, Meta(description="Deprecated: ConfigMap with the licence; use secretName")] = ""
    secret_name: Annotated[str, Meta(description="Secret with the licence")] = ""
    nls_enabled: Annotated[bool | None, Meta(description="Whether the NVIDIA licence system is used")] = None


class RepoConfig(Object, frozen=True):
    config_map_name: Annotated[str, Meta(description="ConfigMap with package repositories for the driver")] = ""


class VirtualTopology(Object, frozen=True):
    config: Annotated[str, Meta(description="ConfigMap with the virtual topology")] = ""


class Driver(Component, frozen=True):
    """The driver: whether and how Lockgate installs it."""

    ON_BY_DEFAULT: ClassVar[bool] = True

    use_nvidia_driver_crd: Annotated[
        bool | None, Meta(description="Whether drivers are described by NVIDIADriver objects instead")
    ] = msgspec.field(default=None, name="useNvidiaDriverCRD")
    use_precompiled: Annotated[bool | None, Meta(description="Whether images with compiled modules are used")] = None
    use_open_kernel_modules: Annotated[
        bool | None, Meta(description="Deprecated and without effect: use kernelModuleType")
    ] = None
    kernel_module_type: Annotated[
        Literal["auto", "open", "proprietary"], Meta(description="Which kernel modules are loaded")
    ] = "auto"
    startup_probe: Annotated[Probe | None, Meta(description="Startup probe of the driver's container")] = None
    liveness_probe: Annotated[Probe | None, Meta(description="Liveness probe of the driver's container")] = None
    readiness_probe: Annotated[Probe | None, Meta(description="Readiness probe of the driver's container")] = None
    rdma: Annotated[RDMA | None, Meta(description="GPUDirect RDMA")] = None
    upgrade_policy: Annotated[UpgradePolicy | None, Meta(description="How the driver is upgraded")] = None
    manager: Annotated[DriverManager, Meta(description="The driver manager's image and environment")] = DriverManager()
    repo_config: Annotated[RepoConfig | None, Meta(description="Package repositories")] = None
    cert_config: Annotated[Ref | None, Meta(description="ConfigMap with certificates of package repositories")] = None
    licensing_config: Annotated[LicensingConfig | None, Meta(description="vGPU licence")] = None
    virtual_topology: Annotated[VirtualTopology | None, Meta(description="vGPU topology")] = None
    kernel_module_config: Annotated[Ref | None, Meta(description="ConfigMap with parameters of kernel modules")] = None
    secret_env: Annotated[str, Meta(description="Secret whose keys become environment variables")] = ""
