"""Kubernetes objects as partial typed Structs: only the fields that we read, decoded straight from the API's JSON.

Field names are snake_case here and camelCase on the wire (`rename="camel"`). Every field has a default, since a
hand-filled folder, an old API server or a redacted bundle may lack any of them. Quantities stay text: parse them with
`kit.quantity`.
"""

import datetime as dt
from typing import Annotated, Any

import msgspec

Labels = dict[str, str]
Moment = Annotated[dt.datetime, msgspec.Meta(tz=True)]  # metav1.Time always has a zone; moments are compared


class Object(msgspec.Struct, frozen=True, rename="camel", gc=False, omit_defaults=True):
    """A value of the Kubernetes API; unknown fields are dropped when decoding."""


class OwnerReference(Object, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class Metadata(Object, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: Moment | None = None
    deletion_timestamp: Moment | None = None
    deletion_grace_period_seconds: int | None = None
    labels: Labels = {}
    annotations: Labels = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()


class Resource(Object, frozen=True):
    """What every listed object has."""

    metadata: Metadata = Metadata()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace


class Condition(Object, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: Moment | None = None
    last_heartbeat_time: Moment | None = None
    observed_generation: int | None = None


# --- nodes


class Taint(Object, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(Object, frozen=True):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = msgspec.field(default="", name="providerID")


class NodeInfo(Object, frozen=True):
    kubelet_version: str = ""
    container_runtime_version: str = ""
    kernel_version: str = ""
    os_image: str = ""
    architecture: str = ""


class RuntimeHandler(Object, frozen=True):
    name: str = ""


class NodeStatus(Object, frozen=True):
    capacity: dict[str, str] = {}
    allocatable: dict[str, str] = {}
    conditions: tuple[Condition, ...] = ()
    node_info: NodeInfo = NodeInfo()
    runtime_handlers: tuple[RuntimeHandler, ...] | None = None


class Node(Resource, frozen=True):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


# --- pods


class Toleration(Object, frozen=True):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


class ResourceRequirements(Object, frozen=True):
    requests: dict[str, str | int | float] = {}
    limits: dict[str, str | int | float] = {}


class EnvVar(Object, frozen=True):
    name: str = ""
    value: str = ""


class SecurityContext(Object, frozen=True):
    privileged: bool | None = None


class ContainerPort(Object, frozen=True):
    container_port: int = 0
    host_port: int = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = ""


class Container(Object, frozen=True):
    name: str = ""
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str = ""
    ports: tuple[ContainerPort, ...] = ()
    security_context: SecurityContext | None = None


class LabelRequirement(Object, frozen=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Object, frozen=True):
    match_labels: Labels = {}
    match_expressions: tuple[LabelRequirement, ...] = ()


class NodeSelectorTerm(Object, frozen=True):
    match_expressions: tuple[LabelRequirement, ...] = ()
    match_fields: tuple[LabelRequirement, ...] = ()


class NodeSelector(Object, frozen=True):
    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class NodeAffinity(Object, frozen=True):
    required: NodeSelector | None = msgspec.field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")


class PodAffinityTerm(Object, frozen=True):
    label_selector: LabelSelector | None = None
    topology_key: str = ""
    namespaces: tuple[str, ...] = ()
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class PodAffinity(Object, frozen=True):
    required: tuple[PodAffinityTerm, ...] = msgspec.field(
        default=(), name="requiredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(Object, frozen=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


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


class TopologySpreadConstraint(Object, frozen=True):
    max_skew: int = 1
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str = ""
    node_taints_policy: str = ""
    match_label_keys: tuple[str, ...] = ()


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


class StateWaiting(Object, frozen=True):
    reason: str = ""
    message: str = ""


class StateRunning(Object, frozen=True):
    started_at: Moment | None = None


class StateTerminated(Object, frozen=True):
    reason: str = ""
    message: str = ""
    exit_code: int = 0
    signal: int = 0
    started_at: Moment | None = None
    finished_at: Moment | None = None


class ContainerState(Object, frozen=True):
    waiting: StateWaiting | None = None
    running: StateRunning | None = None
    terminated: StateTerminated | None = None


class ContainerStatus(Object, frozen=True):
    name: str = ""
    ready: bool = False
    restart_count: int = 0
    image: str = ""
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()
    allocated_resources: dict[str, str | int | float] | None = None
    resources: ResourceRequirements | None = None


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


# --- workloads


class DaemonSetSpec(Object, frozen=True):
    selector: LabelSelector = LabelSelector()
    template: PodTemplate = PodTemplate()


class DaemonSetStatus(Object, frozen=True):
    desired_number_scheduled: int = 0
    current_number_scheduled: int = 0
    number_ready: int = 0
    number_available: int = 0
    number_unavailable: int = 0
    number_misscheduled: int = 0
    updated_number_scheduled: int = 0
    observed_generation: int = 0


class DaemonSet(Resource, frozen=True):
    spec: DaemonSetSpec = DaemonSetSpec()
    status: DaemonSetStatus = DaemonSetStatus()


class ControllerRevision(Resource, frozen=True):
    """A template that a DaemonSet had; the highest `revision` is the one that it has."""

    revision: int = 0


class WorkloadSpec(Object, frozen=True):
    """Deployment, ReplicaSet, StatefulSet or Job: what they share, and what only one of them has."""

    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplate = PodTemplate()
    paused: bool = False
    suspend: bool | None = None
    parallelism: int | None = None
    completions: int | None = None
    backoff_limit: int | None = None


class WorkloadStatus(Object, frozen=True):
    replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    observed_generation: int = 0
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    conditions: tuple[Condition, ...] = ()


class Workload(Resource, frozen=True):
    kind: str = ""
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()


class JobTemplate(Object, frozen=True):
    spec: WorkloadSpec = WorkloadSpec()


class CronJobSpec(Object, frozen=True):
    schedule: str = ""
    suspend: bool | None = None
    job_template: JobTemplate = JobTemplate()


class CronJob(Resource, frozen=True):
    spec: CronJobSpec = CronJobSpec()


# --- cluster


class ObjectReference(Object, frozen=True):
    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    field_path: str = ""


class EventSeries(Object, frozen=True):
    count: int = 0
    last_observed_time: Moment | None = None


class EventSource(Object, frozen=True):
    component: str = ""
    host: str = ""


class Event(Resource, frozen=True):
    """A core/v1 Event; the names of events.k8s.io (`regarding`, `note`, `deprecatedCount`, ...) are read as well."""

    type: str = ""
    reason: str = ""
    message: str = ""
    note: str = ""
    count: int | None = None
    first_timestamp: Moment | None = None
    last_timestamp: Moment | None = None
    event_time: Moment | None = None
    series: EventSeries | None = None
    involved_object: ObjectReference = ObjectReference()
    regarding: ObjectReference | None = None
    source: EventSource = EventSource()
    reporting_component: str = ""
    deprecated_count: int | None = None
    deprecated_last_timestamp: Moment | None = None
    deprecated_source: EventSource | None = None

    @property
    def host(self) -> str:
        """The node of whoever wrote it, "" where that is on none."""
        return (self.deprecated_source or self.source).host

    @property
    def about(self) -> ObjectReference:
        return self.regarding or self.involved_object

    @property
    def text(self) -> str:
        return self.message or self.note

    @property
    def last_seen(self) -> dt.datetime | None:
        series = self.series.last_observed_time if self.series else None
        return (
            series
            or self.last_timestamp
            or self.deprecated_last_timestamp
            or self.event_time
            or self.first_timestamp
            or self.metadata.creation_timestamp
        )

    @property
    def times(self) -> int:
        """How often it happened, 0 where that is not told."""
        return (self.series.count if self.series else self.count or self.deprecated_count) or 0


class RuntimeClassOverhead(Object, frozen=True):
    pod_fixed: dict[str, str | int | float] = {}


class RuntimeClassScheduling(Object, frozen=True):
    node_selector: Labels = {}
    tolerations: tuple[Toleration, ...] = ()


class RuntimeClass(Resource, frozen=True):
    """`overhead` and `scheduling` are what the API server writes into each pod that names the class."""

    handler: str = ""
    overhead: RuntimeClassOverhead | None = None
    scheduling: RuntimeClassScheduling | None = None


class ResourceQuotaSpec(Object, frozen=True):
    hard: dict[str, str | int] = {}


class ResourceQuotaStatus(Object, frozen=True):
    hard: dict[str, str | int] = {}
    used: dict[str, str | int] = {}


class ResourceQuota(Resource, frozen=True):
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


class PriorityClass(Resource, frozen=True):
    value: int = 0
    global_default: bool = False
    preemption_policy: str = ""


class LimitRangeItem(Object, frozen=True):
    """Bounds for each `type` (Container, Pod); a `max` without a `default` is the default of what names none."""

    type: str = ""
    max: dict[str, str | int] = {}
    min: dict[str, str | int] = {}
    default: dict[str, str | int] = {}
    default_request: dict[str, str | int] = {}


class LimitRangeSpec(Object, frozen=True):
    limits: tuple[LimitRangeItem, ...] = ()


class LimitRange(Resource, frozen=True):
    spec: LimitRangeSpec = LimitRangeSpec()


class StorageClass(Resource, frozen=True):
    provisioner: str = ""
    volume_binding_mode: str = ""


class VolumeNodeAffinity(Object, frozen=True):
    required: NodeSelector | None = None


class PersistentVolumeSpec(Object, frozen=True):
    node_affinity: VolumeNodeAffinity | None = None
    storage_class_name: str = ""


class PersistentVolume(Resource, frozen=True):
    spec: PersistentVolumeSpec = PersistentVolumeSpec()


class NamespaceStatus(Object, frozen=True):
    phase: str = ""


class Namespace(Resource, frozen=True):
    status: NamespaceStatus = NamespaceStatus()


class ConfigMap(Resource, frozen=True):
    data: dict[str, str] = {}


class LeaseSpec(Object, frozen=True):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: Moment | None = None
    renew_time: Moment | None = None
    lease_transitions: int | None = None


class Lease(Resource, frozen=True):
    spec: LeaseSpec = LeaseSpec()


class PersistentVolumeClaimSpec(Object, frozen=True):
    storage_class_name: str | None = None
    volume_name: str = ""


class PersistentVolumeClaimStatus(Object, frozen=True):
    phase: str = ""


class PersistentVolumeClaim(Resource, frozen=True):
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()


class DisruptionBudgetSpec(Object, frozen=True):
    selector: LabelSelector | None = None
    min_available: int | str | None = None
    max_unavailable: int | str | None = None
    unhealthy_pod_eviction_policy: str = ""


class DisruptionBudgetStatus(Object, frozen=True):
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    observed_generation: int = 0
    disrupted_pods: dict[str, str] = {}


class PodDisruptionBudget(Resource, frozen=True):
    spec: DisruptionBudgetSpec = DisruptionBudgetSpec()
    status: DisruptionBudgetStatus = DisruptionBudgetStatus()


class PolicyStatus(Object, frozen=True):
    state: str = ""
    namespace: str = ""
    conditions: tuple[Condition, ...] = ()


class NvidiaDriver(Resource, frozen=True):
    """One driver for some nodes, of several that a cluster may have (`nvidia.com/v1alpha1`)."""

    spec: dict[str, Any] = {}
    status: PolicyStatus = PolicyStatus()


class ClusterPolicy(Resource, frozen=True):
    """The policy as an observer reads it: the spec untyped, since `why` reads a few fields of any version."""

    spec: dict[str, Any] = {}
    status: PolicyStatus = PolicyStatus()
