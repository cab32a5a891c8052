"""All that is known of a cluster at one moment: a Snapshot with a field a section, each a value or Missing(reason).

Missing is not empty: an empty section was read and has nothing in it, a missing one was not read. Collectors put
Missing where they may not or cannot read, and never raise for it.
"""

import datetime as dt
from typing import TypeAlias, TypeVar

import msgspec

from lockgate.model.claims import DeviceClass, ResourceClaim, ResourceSlice
from lockgate.model.narrowing import WHOLE, Narrowing
from lockgate.model.node_state import GPUNodeState
from lockgate.model.objects import (
    ClusterPolicy,
    ConfigMap,
    CronJob,
    DaemonSet,
    Event,
    Labels,
    LimitRange,
    Namespace,
    Node,
    NvidiaDriver,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PriorityClass,
    ResourceQuota,
    RuntimeClass,
    StorageClass,
    Workload,
)
from lockgate.model.queues import NodeClaim, PodGroup, QueuedWorkload

T = TypeVar("T")


class Missing(msgspec.Struct, frozen=True):
    """Not known: why, and how to get it (a command or a permission); `refused` where the cluster does not allow it.

    `unserved` where the cluster has no such kind: none of its objects can be there.
    """

    reason: str
    how: str = ""
    refused: bool = False
    unserved: bool = False

    @property
    def text(self) -> str:
        """Both in one line."""
        return f"{self.reason}; to know it: {self.how}" if self.how else self.reason


class LeftOut(msgspec.Struct, frozen=True):
    """Of a section that was read, that not all of it was kept: why, how to get the rest, whether that may matter."""

    section: str
    reason: str
    how: str = ""
    decides: bool = False


class NodeFiles(msgspec.Struct, frozen=True):
    """Files of one node at their own absolute path, and the output of commands run on it, by name (`nvidia-smi`)."""

    node: str
    files: Labels = {}
    outputs: Labels = {}


class Log(msgspec.Struct, frozen=True):
    """The tail of a container's log."""

    namespace: str
    pod: str
    container: str
    text: str
    previous: bool = False


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """What an exporter measured of one device at one moment, and the pod that it says holds the device ("" for none).

    `utilisation` is a share of 1, None where the device does not tell; `profile` is that of a MIG device.
    """

    node: str
    device: str
    profile: str = ""
    namespace: str = ""
    pod: str = ""
    utilisation: float | None = None
    memory_used_mib: int | None = None


NOT_COLLECTED = Missing("not collected")

Nodes: TypeAlias = tuple[Node, ...]
Pods: TypeAlias = tuple[Pod, ...]
Events: TypeAlias = tuple[Event, ...]
DaemonSets: TypeAlias = tuple[DaemonSet, ...]
Workloads: TypeAlias = tuple[Workload, ...]
CronJobs: TypeAlias = tuple[CronJob, ...]
RuntimeClasses: TypeAlias = tuple[RuntimeClass, ...]
ResourceQuotas: TypeAlias = tuple[ResourceQuota, ...]
PriorityClasses: TypeAlias = tuple[PriorityClass, ...]
LimitRanges: TypeAlias = tuple[LimitRange, ...]
DeviceClasses: TypeAlias = tuple[DeviceClass, ...]
ResourceClaims: TypeAlias = tuple[ResourceClaim, ...]
ResourceSlices: TypeAlias = tuple[ResourceSlice, ...]
QueuedWorkloads: TypeAlias = tuple[QueuedWorkload, ...]
PodGroups: TypeAlias = tuple[PodGroup, ...]
NodeClaims: TypeAlias = tuple[NodeClaim, ...]
Namespaces: TypeAlias = tuple[Namespace, ...]
ConfigMaps: TypeAlias = tuple[ConfigMap, ...]
PersistentVolumeClaims: TypeAlias = tuple[PersistentVolumeClaim, ...]
PersistentVolumes: TypeAlias = tuple[PersistentVolume, ...]
StorageClasses: TypeAlias = tuple[StorageClass, ...]
PodDisruptionBudgets: TypeAlias = tuple[PodDisruptionBudget, ...]
ClusterPolicies: TypeAlias = tuple[ClusterPolicy, ...]
NvidiaDrivers: TypeAlias = tuple[NvidiaDriver, ...]
NodeStates: TypeAlias = tuple[GPUNodeState, ...]
NodeFolders: TypeAlias = tuple[NodeFiles, ...]
Logs: TypeAlias = tuple[Log, ...]
Readings: TypeAlias = tuple[Reading, ...]


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The facts. `pods` are all pods of the cluster (what the scheduler counts); `namespace_pods` those of the target's
    namespace, known also where listing the whole cluster is forbidden. `custom_owners` are objects of kinds that no
    section holds and that own pods or workloads (PyTorchJob, JobSet, ...), with the pod template found in them.
    `taken_at` is the moment, if it is known; `narrowing` says of whose pods events and logs were gathered,
    `left_out` what a section was too large for. `some_nodes` are those of a list of nodes that is cut.
    """

    taken_at: dt.datetime | None = None
    narrowing: Narrowing = WHOLE
    left_out: tuple[LeftOut, ...] = ()
    some_nodes: Nodes = ()
    nodes: Nodes | Missing = NOT_COLLECTED
    pods: Pods | Missing = NOT_COLLECTED
    namespace_pods: Pods | Missing = NOT_COLLECTED
    events: Events | Missing = NOT_COLLECTED
    daemon_sets: DaemonSets | Missing = NOT_COLLECTED
    deployments: Workloads | Missing = NOT_COLLECTED
    replica_sets: Workloads | Missing = NOT_COLLECTED
    stateful_sets: Workloads | Missing = NOT_COLLECTED
    jobs: Workloads | Missing = NOT_COLLECTED
    cron_jobs: CronJobs | Missing = NOT_COLLECTED
    custom_owners: Workloads | Missing = NOT_COLLECTED
    runtime_classes: RuntimeClasses | Missing = NOT_COLLECTED
    resource_quotas: ResourceQuotas | Missing = NOT_COLLECTED
    limit_ranges: LimitRanges | Missing = NOT_COLLECTED
    priority_classes: PriorityClasses | Missing = NOT_COLLECTED
    device_classes: DeviceClasses | Missing = NOT_COLLECTED
    resource_claims: ResourceClaims | Missing = NOT_COLLECTED
    resource_slices: ResourceSlices | Missing = NOT_COLLECTED
    queued_workloads: QueuedWorkloads | Missing = NOT_COLLECTED
    pod_groups: PodGroups | Missing = NOT_COLLECTED
    node_claims: NodeClaims | Missing = NOT_COLLECTED
    namespaces: Namespaces | Missing = NOT_COLLECTED
    config_maps: ConfigMaps | Missing = NOT_COLLECTED
    persistent_volume_claims: PersistentVolumeClaims | Missing = NOT_COLLECTED
    persistent_volumes: PersistentVolumes | Missing = NOT_COLLECTED
    storage_classes: StorageClasses | Missing = NOT_COLLECTED
    pod_disruption_budgets: PodDisruptionBudgets | Missing = NOT_COLLECTED
    cluster_policies: ClusterPolicies | Missing = NOT_COLLECTED
    nvidia_drivers: NvidiaDrivers | Missing = NOT_COLLECTED
    node_states: NodeStates | Missing = NOT_COLLECTED
    node_files: NodeFolders | Missing = NOT_COLLECTED
    logs: Logs | Missing = NOT_COLLECTED
    readings: Readings | Missing = NOT_COLLECTED

    @property
    def known_nodes(self) -> Nodes | Missing:
        """Every node that is known of: of a list that is cut those that are there; Missing where there is none."""
        return self.some_nodes if isinstance(self.nodes, Missing) and self.some_nodes else self.nodes

    @property
    def known_pods(self) -> Pods:
        """Every pod that is known of; `pods` may leave finished ones out, since they hold nothing."""
        near = () if isinstance(self.namespace_pods, Missing) else self.namespace_pods
        if isinstance(self.pods, Missing) or near is self.pods:
            return near
        if not near:
            return self.pods
        known = {(p.namespace, p.name) for p in near}
        return (*near, *(p for p in self.pods if (p.namespace, p.name) not in known))


SECTIONS: tuple[str, ...] = tuple(
    f for f in Snapshot.__struct_fields__ if f not in ("taken_at", "narrowing", "left_out", "some_nodes")
)


class ApiSection(msgspec.Struct, frozen=True):
    """Which resource of the API fills a section: its plural (as `kubectl api-resources` has it), kind and type."""

    section: str
    plural: str
    kind: str
    type: type


API_SECTIONS: tuple[ApiSection, ...] = (
    ApiSection("nodes", "nodes", "Node", Node),
    ApiSection("pods", "pods", "Pod", Pod),
    ApiSection("events", "events", "Event", Event),
    ApiSection("daemon_sets", "daemonsets", "DaemonSet", DaemonSet),
    ApiSection("deployments", "deployments", "Deployment", Workload),
    ApiSection("replica_sets", "replicasets", "ReplicaSet", Workload),
    ApiSection("stateful_sets", "statefulsets", "StatefulSet", Workload),
    ApiSection("jobs", "jobs", "Job", Workload),
    ApiSection("cron_jobs", "cronjobs", "CronJob", CronJob),
    ApiSection("runtime_classes", "runtimeclasses", "RuntimeClass", RuntimeClass),
    ApiSection("resource_quotas", "resourcequotas", "ResourceQuota", ResourceQuota),
    ApiSection("priority_classes", "priorityclasses", "PriorityClass", PriorityClass),
    ApiSection("limit_ranges", "limitranges", "LimitRange", LimitRange),
    ApiSection("device_classes", "deviceclasses", "DeviceClass", DeviceClass),
    ApiSection("resource_claims", "resourceclaims", "ResourceClaim", ResourceClaim),
    ApiSection("resource_slices", "resourceslices", "ResourceSlice", ResourceSlice),
    ApiSection("queued_workloads", "workloads", "Workload", QueuedWorkload),  # Kueue's
    ApiSection("pod_groups", "podgroups", "PodGroup", PodGroup),
    ApiSection("node_claims", "nodeclaims", "NodeClaim", NodeClaim),
    ApiSection("namespaces", "namespaces", "Namespace", Namespace),
    ApiSection("config_maps", "configmaps", "ConfigMap", ConfigMap),
    ApiSection("persistent_volume_claims", "persistentvolumeclaims", "PersistentVolumeClaim", PersistentVolumeClaim),
    ApiSection("persistent_volumes", "persistentvolumes", "PersistentVolume", PersistentVolume),
    ApiSection("storage_classes", "storageclasses", "StorageClass", StorageClass),
    ApiSection("pod_disruption_budgets", "poddisruptionbudgets", "PodDisruptionBudget", PodDisruptionBudget),
    ApiSection("cluster_policies", "clusterpolicies", "ClusterPolicy", ClusterPolicy),
    ApiSection("nvidia_drivers", "nvidiadrivers", "NVIDIADriver", NvidiaDriver),
    ApiSection("node_states", "gpunodestates", "GPUNodeState", GPUNodeState),
)
BY_PLURAL: dict[str, ApiSection] = {s.plural: s for s in API_SECTIONS}
BY_KIND: dict[str, ApiSection] = {s.kind: s for s in API_SECTIONS}
