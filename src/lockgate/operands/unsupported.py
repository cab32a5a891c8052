"""What a policy may ask for and this release does not have: said per operand, with the field that asks for it.

A row leaves this table when its operand gets a folder. `labels` are the node labels that its pods would need.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from lockgate.model.policy import PolicySpec


@dataclass(frozen=True, slots=True)
class Unsupported:
    """An operand of NVIDIA's that Lockgate lacks: NVIDIA's state, our condition, and the field to set to false."""

    state: str
    condition: str
    switch: str
    asked: Callable[[PolicySpec], bool]

    @property
    def message(self) -> str:
        return f"Lockgate does not have this operand yet: set {self.switch}=false"


UNSUPPORTED: Final = (
    Unsupported(
        "state-driver",
        "DriverReady",
        "spec.driver.enabled",
        lambda spec: spec.driver.on and not spec.driver.use_nvidia_driver_crd,
    ),
    Unsupported(
        "state-driver",
        "NVIDIADriverReady",
        "spec.driver.useNvidiaDriverCRD",
        lambda spec: spec.driver.on and bool(spec.driver.use_nvidia_driver_crd),
    ),
    Unsupported("state-dcgm", "DCGMReady", "spec.dcgm.enabled", lambda spec: spec.dcgm.on),
    Unsupported(
        "state-dcgm-exporter", "DCGMExporterReady", "spec.dcgmExporter.enabled", lambda spec: spec.dcgm_exporter.on
    ),
    Unsupported("state-mig-manager", "MIGManagerReady", "spec.migManager.enabled", lambda spec: spec.mig_manager.on),
    Unsupported(
        "state-node-status-exporter",
        "NodeStatusExporterReady",
        "spec.nodeStatusExporter.enabled",
        lambda spec: spec.node_status_exporter.on,
    ),
    Unsupported(
        "state-sandbox-validation",
        "SandboxWorkloadsReady",
        "spec.sandboxWorkloads.enabled",
        lambda spec: bool(spec.sandbox_workloads.enabled),
    ),
    Unsupported("pod-security-admission", "PodSecurityReady", "spec.psa.enabled", lambda spec: bool(spec.psa.enabled)),
)


def unsupported(spec: PolicySpec) -> tuple[Unsupported, ...]:
    """What this policy asks for in vain."""
    return tuple(row for row in UNSUPPORTED if row.asked(spec))
