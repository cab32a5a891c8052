"""Labels, annotations, resources and names that are the interface with NVIDIA's stack and with Kubernetes.

Source: NVIDIA gpu-operator 26.7 line, k8s-device-plugin 0.20, node-feature-discovery 0.19.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

# Resources
GPU: Final = "nvidia.com/gpu"
GPU_SHARED: Final = "nvidia.com/gpu.shared"
GPU_PREFIX: Final = "nvidia.com/gpu"
MIG_PREFIX: Final = "nvidia.com/mig-"

# The driver of NVIDIA's GPUs for dynamic resource allocation (dra-driver-nvidia-gpu)
CLAIMS_DRIVER: Final = "gpu.nvidia.com"

# Slots of shared GPUs as Volcano's own device plugin offers them
VOLCANO_SLOTS: Final = "volcano.sh/vgpu-number"

# What pods of HAMi and of Volcano's vGPUs ask for beside slots: parts of a card, which their own scheduler counts and
# kube-scheduler leaves out.
HAMI_AMOUNTS: Final = (
    "nvidia.com/gpumem",
    "nvidia.com/gpumem-percentage",
    "nvidia.com/gpucores",
    "nvidia.com/priority",
    "volcano.sh/vgpu-memory",
    "volcano.sh/vgpu-memory-percentage",
    "volcano.sh/vgpu-cores",
)

# Groups
NVIDIA_GROUP: Final = "nvidia.com"
LOCKGATE_GROUP: Final = "lockgate.dev"
API_VERSION: Final = "lockgate.dev/v1alpha1"

# Node labels that say "an NVIDIA PCI device is here"; any of the three makes a GPU node.
NFD_PREFIX: Final = "feature.node.kubernetes.io/"
PCI_PRESENT: Final = (
    "feature.node.kubernetes.io/pci-10de.present",
    "feature.node.kubernetes.io/pci-0302_10de.present",
    "feature.node.kubernetes.io/pci-0300_10de.present",
)
# The same in a shape that nobody reads: node discovery joins the fields of `sources.pci.deviceLabelFields` with `_`.
# Where the class is told, it is a display controller's (03) or an accelerator's (12), not a sound card's.
_PCI_OTHER_SHAPE: Final = re.compile(
    r"feature\.node\.kubernetes\.io/pci-(?:(?:03|12)[0-9a-f]{2}_(?:[0-9a-f]{4}_)?)?10de(?:_[0-9a-f]{4})*\.present"
)
KERNEL_FULL: Final = "feature.node.kubernetes.io/kernel-version.full"
OS_ID: Final = "feature.node.kubernetes.io/system-os_release.ID"
OS_VERSION: Final = "feature.node.kubernetes.io/system-os_release.VERSION_ID"

# Node labels of clouds that say "an accelerator is here": GKE, EKS, Karpenter on AWS, AKS, and AKS of old.
CLOUD_ACCELERATORS: Final = (
    "cloud.google.com/gke-accelerator",
    "k8s.amazonaws.com/accelerator",
    "karpenter.k8s.aws/instance-gpu-manufacturer",
    "karpenter.k8s.gcp/instance-gpu-name",
    "kubernetes.azure.com/accelerator",
    "accelerator",
)

# Node labels of the operator
GPU_PRESENT: Final = "nvidia.com/gpu.present"
DEPLOY_PREFIX: Final = "nvidia.com/gpu.deploy."
DEPLOY_OPERANDS: Final = "nvidia.com/gpu.deploy.operands"
WORKLOAD_CONFIG: Final = "nvidia.com/gpu.workload.config"
MACHINE_WORKLOADS: Final = ("vm-passthrough", "vm-vgpu")
PLUGIN_CONFIG: Final = "nvidia.com/device-plugin.config"
UPGRADE_STATE: Final = "nvidia.com/gpu-driver-upgrade-state"
UPGRADE_ENABLED: Final = "nvidia.com/gpu-driver-upgrade-enabled"
PAUSED_FOR_DRIVER: Final = "paused-for-driver-upgrade"
PAUSED_FOR_MIG: Final = "paused-for-mig-change"

# Node labels of feature discovery and the MIG manager
GPU_PRODUCT: Final = "nvidia.com/gpu.product"
GPU_COUNT: Final = "nvidia.com/gpu.count"
GPU_MEMORY: Final = "nvidia.com/gpu.memory"
GPU_REPLICAS: Final = "nvidia.com/gpu.replicas"
SHARING_STRATEGY: Final = "nvidia.com/gpu.sharing-strategy"
MIG_CAPABLE: Final = "nvidia.com/mig.capable"
MIG_CONFIG: Final = "nvidia.com/mig.config"
MIG_CONFIG_STATE: Final = "nvidia.com/mig.config.state"
VGPU_HOST_DRIVER: Final = "nvidia.com/vgpu.host-driver-version"

# Runtime handlers
HANDLERS: Final = ("nvidia", "nvidia-cdi", "nvidia-legacy")

# CDI kinds
CDI_GPU: Final = "nvidia.com/gpu"
CDI_PLUGIN: Final = "k8s.device-plugin.nvidia.com/gpu"
CDI_MANAGEMENT: Final = "management.nvidia.com/gpu"

# Annotations that people set
WAIVE: Final = "lockgate.dev/waive"

# Files on a node
VALIDATIONS: Final = "/run/nvidia/validations"
DRIVER_ROOT: Final = "/run/nvidia/driver"
PLUGIN_SOCKETS: Final = "/var/lib/kubelet/device-plugins"

OPERATOR_NAMESPACE: Final = "gpu-operator"
IMAGE: Final = "docker.io/lockgate/lockgate"  # Lockgate's own, without its version


@lru_cache(maxsize=4096)  # asked for every container of a cluster, about the same few names
def is_gpu_resource(name: str) -> bool:
    """Whether a resource name is a GPU of some kind: whole, shared, renamed, a slot of Volcano's or a MIG device.

    HAMi's `nvidia.com/gpumem` and `nvidia.com/gpucores` are amounts of memory and compute, not devices.
    """
    return name.startswith(MIG_PREFIX) or name == VOLCANO_SLOTS or is_whole_gpu(name)


@lru_cache(maxsize=4096)
def is_whole_gpu(name: str) -> bool:
    """Whether a resource stands for whole GPUs or slots of them: `nvidia.com/gpu`, `.shared`, `nvidia.com/gpu-a100`."""
    return name.startswith(GPU_PREFIX) and not name[len(GPU_PREFIX) :][:1].isalnum()


def is_labelled(labels: Mapping[str, str]) -> bool:
    """Whether a node's labels say "an NVIDIA GPU is here" in a shape that operators read."""
    return any(labels.get(label) == "true" for label in (*PCI_PRESENT, GPU_PRESENT))


@lru_cache(maxsize=4096)  # asked for every label of every node, of the same few names
def is_unread_pci_label(label: str) -> bool:
    """Whether a node label says "an NVIDIA GPU is here" in a shape that no operator reads (`pci-0302_10de_20b5`)."""
    return label not in PCI_PRESENT and bool(_PCI_OTHER_SHAPE.fullmatch(label))
