"""Pods, and the templates that controllers make them from."""

import msgspec

from lockgate.model.objects.containers import Container, ContainerStatus, ResourceRequirements
from lockgate.model.objects.meta import Condition, Labels, Metadata, Moment, Object, Resource
from lockgate.model.objects.placement import Affinity, Toleration, TopologySpreadConstraint


class PersistentVolumeClaimSource(Object, frozen=True):
    claim_name: str = ""


class HostPathSource(Object, frozen=True):
    path: str = ""


class EphemeralSource(Object, frozen=True):
    """A generic ephemeral volume: the claim is named after pod and volume."""


class Volume(Object, frozen=True):
    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimSource | None = None
    host_path: HostPathSource | None = None
    ephemeral: EphemeralSource | None = None

    @property
    def has_source(self) -> bool:
        """Whether it has a source that we know; a service account's token has not, and its name is chance."""
        return bool(self.persistent_volume_claim or self.host_path or self.ephemeral is not None)


class SchedulingGate(Object, frozen=True):
    name: str = ""


class PodResourceClaim(Object, frozen=True):
    name: str = ""
    resource_claim_name: str = ""
    resource_claim_template_name: str = ""
    source: Labels | None = None  # the two names, up to Kubernetes 1.30


class PodSpec(Object, frozen=True):
    node_name: str = ""
    scheduler_name: str = ""
    runtime_class_name: str | None = None
    priority_class_name: str = ""
    priority: int | None = None
    preemption_policy: str = ""
    service_account_name: str = ""
    node_selector: Labels = {}
    tolerations: tuple[Toleration, ...] = ()
    affinity: Affinity | None = None
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: dict[str, str | int | float] = {}
    resources: ResourceRequirements | None = None
    volumes: tuple[Volume, ...] = ()
    scheduling_gates: tuple[SchedulingGate, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    restart_policy: str = ""
    host_network: bool = False
    host_users: bool | None = None
    host_pid: bool = msgspec.field(default=False, name="hostPID")


class PodClaimStatus(Object, frozen=True):
    """The claim that was made for an entry of `spec.resourceClaims`."""

    name: str = ""
    resource_claim_name: str = ""


class ExtendedResourceMapping(Object, frozen=True):
    """One extended resource of a container that a claim serves."""

    container_name: str = ""
    resource_name: str = ""


class ExtendedResourceClaimStatus(Object, frozen=True):
    """The claim that the scheduler made for extended resources that DeviceClasses stand for (Kubernetes 1.34)."""

    resource_claim_name: str = ""
    request_mappings: tuple[ExtendedResourceMapping, ...] = ()


class PodStatus(Object, frozen=True):
    phase: str = ""
    reason: str = ""
    message: str = ""
    nominated_node_name: str = ""
    start_time: Moment | None = None
    conditions: tuple[Condition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    resource_claim_statuses: tuple[PodClaimStatus, ...] = ()
    extended_resource_claim_status: ExtendedResourceClaimStatus | None = None
    allocated_resources: dict[str, str | int | float] | None = None
    resources: ResourceRequirements | None = None


class Pod(Resource, frozen=True):
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class PodTemplate(Object, frozen=True):
    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()
