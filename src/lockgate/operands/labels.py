"""The labels that a policy gives a node, and takes from it.

Source: NVIDIA gpu-operator 26.7, controllers/state_manager.go; agrees with the 114 nodes of
tests/truth/node_labels.jsonl, which its real operator labelled.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from lockgate.model import names
from lockgate.model.policy import PolicySpec

Labels = Mapping[str, str]

CONTAINER: Final = "container"
WORKLOADS: Final[Mapping[str, tuple[str, ...]]] = {
    CONTAINER: (
        "driver",
        "gpu-feature-discovery",
        "container-toolkit",
        "device-plugin",
        "dcgm",
        "dcgm-exporter",
        "node-status-exporter",
        "operator-validator",
        "client",
    ),
    "vm-passthrough": (
        "sandbox-device-plugin",
        "sandbox-validator",
        "vfio-manager",
        "kata-manager",
        "cc-manager",
        "client",
    ),
    "vm-vgpu": (
        "sandbox-device-plugin",
        "vgpu-manager",
        "vgpu-device-manager",
        "sandbox-validator",
        "cc-manager",
        "client",
    ),
}
MIG_MANAGER: Final = names.DEPLOY_PREFIX + "mig-manager"
_KATA: Final = "kata-sandbox-device-plugin"
_ALL: Final = frozenset(
    names.DEPLOY_PREFIX + part
    for part in (*(part for parts in WORKLOADS.values() for part in parts), "mig-manager", _KATA)
)
_MIG_PRODUCTS: Final = ("h100", "a100", "a30")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What to write to a node: None removes a label or annotation. Empty when nothing is to do."""

    labels: Mapping[str, str | None] = field(default_factory=dict)
    annotations: Mapping[str, str | None] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.labels or self.annotations)

    def patch(self) -> dict[str, dict[str, Mapping[str, str | None]]]:
        """The JSON merge patch that brings them about."""
        return {"metadata": {"labels": self.labels, "annotations": self.annotations}}


def is_gpu_node(labels: Labels) -> bool:
    """Whether node discovery found an NVIDIA display controller, by any of the three label spellings."""
    return any(labels.get(label) == "true" for label in names.PCI_PRESENT)


def is_discovered(labels: Labels) -> bool:
    """Whether any node discovery (ours or NFD) has labelled the node."""
    return any(label.startswith(names.NFD_PREFIX) for label in labels)


def is_mig_capable(labels: Labels) -> bool:
    """Whether the node's GPUs can be partitioned; by the product's name before anything has asked the driver."""
    if labels.get(names.VGPU_HOST_DRIVER):
        return False
    if names.MIG_CAPABLE in labels:
        return labels[names.MIG_CAPABLE] == "true"
    product = labels.get(names.GPU_PRODUCT, "").lower()
    return any(name in product for name in _MIG_PRODUCTS)


def workload(labels: Labels, spec: PolicySpec) -> str:
    """What the node's GPUs serve; a value that is none of the known ones counts as no value."""
    if not spec.sandbox_workloads.enabled:
        return CONTAINER
    asked = labels.get(names.WORKLOAD_CONFIG, "")
    return asked if asked in WORKLOADS else spec.sandbox_workloads.default_workload


def changes(labels: Labels, annotations: Labels, spec: PolicySpec) -> Changes:
    """What to change on a node with these labels and annotations under a policy."""
    wanted = desired_labels(labels, spec)
    wanted_annotations = _desired_annotations(labels, spec)
    return Changes(
        labels={key: value for key, value in wanted.items() if labels.get(key) != value},
        annotations={key: value for key, value in wanted_annotations.items() if annotations.get(key) != value},
    )


def desired_labels(labels: Labels, spec: PolicySpec) -> dict[str, str | None]:
    """Every label that the policy decides on this node: its value, or None where it must not be."""
    if not is_gpu_node(labels):
        return {**_no_longer(labels), **_upgrade_state(labels, spec)}
    wanted: dict[str, str | None] = {names.GPU_PRESENT: "true"}
    if labels.get(names.DEPLOY_OPERANDS) == "false":
        return {**wanted, **_removed(labels, keep=frozenset()), **_upgrade_state(labels, spec)}
    effective = effective_labels(labels, spec)
    wanted |= _removed(labels, keep=_kept(labels, spec, effective))
    wanted |= {label: labels.get(label) or "true" for label in effective}
    if label := default_mig_config(labels, spec):
        wanted[names.MIG_CONFIG] = label
    return wanted | _upgrade_state(labels, spec)


def _no_longer(labels: Labels) -> dict[str, str | None]:
    """A node that was a GPU node loses its labels; one that never was keeps what a person set before discovery came."""
    if names.GPU_PRESENT not in labels:
        return {}
    return {**_removed(labels, keep=frozenset()), names.GPU_PRESENT: "false"}


def effective_labels(labels: Labels, spec: PolicySpec) -> frozenset[str]:
    """The `nvidia.com/gpu.deploy.*` labels of a GPU node; the same whether or not an operand is enabled."""
    kind = workload(labels, spec)
    parts = set(WORKLOADS[kind])
    if kind == "vm-passthrough" and spec.sandbox_workloads.mode == "kata":
        parts = parts - {"sandbox-device-plugin"} | {_KATA}
    if kind == CONTAINER and is_mig_capable(labels):
        parts.add("mig-manager")
    return frozenset(names.DEPLOY_PREFIX + part for part in parts)


def default_mig_config(labels: Labels, spec: PolicySpec) -> str | None:
    """The MIG configuration of a capable node that has none yet."""
    default = spec.mig_manager.config.default if spec.mig_manager.config else ""
    if not spec.mig_manager.on or default != "all-disabled" or not is_mig_capable(labels):
        return None
    return labels.get(names.MIG_CONFIG, default)


def _kept(labels: Labels, spec: PolicySpec, effective: frozenset[str]) -> frozenset[str]:
    """A MIG manager label survives on container nodes although the node is not known to be capable."""
    return effective | {MIG_MANAGER} if workload(labels, spec) == CONTAINER else effective


def _removed(labels: Labels, keep: frozenset[str]) -> dict[str, str | None]:
    return {label: None for label in labels if label in _ALL and label not in keep}


def _upgrade_state(labels: Labels, spec: PolicySpec) -> dict[str, str | None]:
    """Driver upgrades are off with virtual machines or without automatic upgrades: no node keeps a state of them."""
    if _upgrades_on(spec) or names.UPGRADE_STATE not in labels:
        return {}
    return {names.UPGRADE_STATE: None}


def _desired_annotations(labels: Labels, spec: PolicySpec) -> dict[str, str | None]:
    on = _upgrades_on(spec) and is_gpu_node(labels)
    return {names.UPGRADE_ENABLED: "true" if on else None}


def _upgrades_on(spec: PolicySpec) -> bool:
    policy = spec.driver.upgrade_policy
    return spec.driver.on and policy is not None and policy.auto_upgrade and not spec.sandbox_workloads.enabled
