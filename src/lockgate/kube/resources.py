"""The kinds that Lockgate reads and writes: a row a kind. An operand's manifest may hold only kinds of this table."""

from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from lockgate.model import claims, names, queues
from lockgate.model import objects as model
from lockgate.model.node_state import GPUNodeState, NodeStanding

T = TypeVar("T", bound=model.Resource, covariant=True)


@dataclass(frozen=True, slots=True)
class Resource(Generic[T]):
    """A kind of the API: where it lives and the Struct that its JSON is decoded into (only the fields we read)."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    type: type[T]

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str | None = None, name: str = "", subresource: str = "") -> str:
        """The URL path of a collection, an object or a subresource; no namespace means all of them."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        scope = f"/namespaces/{namespace}" if self.namespaced and namespace else ""
        return "/".join(part for part in (root + scope, self.plural, name, subresource) if part)


NODES: Final = Resource("", "v1", "nodes", "Node", False, model.Node)
PODS: Final = Resource("", "v1", "pods", "Pod", True, model.Pod)
EVENTS: Final = Resource("", "v1", "events", "Event", True, model.Event)
NAMESPACES: Final = Resource("", "v1", "namespaces", "Namespace", False, model.Namespace)
CONFIGMAPS: Final = Resource("", "v1", "configmaps", "ConfigMap", True, model.ConfigMap)
SERVICES: Final = Resource("", "v1", "services", "Service", True, model.Resource)
SERVICEACCOUNTS: Final = Resource("", "v1", "serviceaccounts", "ServiceAccount", True, model.Resource)
RESOURCEQUOTAS: Final = Resource("", "v1", "resourcequotas", "ResourceQuota", True, model.ResourceQuota)
LIMITRANGES: Final = Resource("", "v1", "limitranges", "LimitRange", True, model.LimitRange)
PERSISTENTVOLUMECLAIMS: Final = Resource(
    "", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", True, model.PersistentVolumeClaim
)
PERSISTENTVOLUMES: Final = Resource("", "v1", "persistentvolumes", "PersistentVolume", False, model.PersistentVolume)
STORAGECLASSES: Final = Resource("storage.k8s.io", "v1", "storageclasses", "StorageClass", False, model.StorageClass)
PODDISRUPTIONBUDGETS: Final = Resource(
    "policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", True, model.PodDisruptionBudget
)
DAEMONSETS: Final = Resource("apps", "v1", "daemonsets", "DaemonSet", True, model.DaemonSet)
CONTROLLERREVISIONS: Final = Resource(
    "apps", "v1", "controllerrevisions", "ControllerRevision", True, model.ControllerRevision
)
DEPLOYMENTS: Final = Resource("apps", "v1", "deployments", "Deployment", True, model.Workload)
REPLICASETS: Final = Resource("apps", "v1", "replicasets", "ReplicaSet", True, model.Workload)
STATEFULSETS: Final = Resource("apps", "v1", "statefulsets", "StatefulSet", True, model.Workload)
JOBS: Final = Resource("batch", "v1", "jobs", "Job", True, model.Workload)
CRONJOBS: Final = Resource("batch", "v1", "cronjobs", "CronJob", True, model.CronJob)
RUNTIMECLASSES: Final = Resource("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", False, model.RuntimeClass)
LEASES: Final = Resource("coordination.k8s.io", "v1", "leases", "Lease", True, model.Lease)
CUSTOMRESOURCEDEFINITIONS: Final = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", False, model.Resource
)
CLUSTERPOLICIES: Final = Resource(
    names.NVIDIA_GROUP, "v1", "clusterpolicies", "ClusterPolicy", False, model.ClusterPolicy
)
NVIDIADRIVERS: Final = Resource(
    names.NVIDIA_GROUP, "v1alpha1", "nvidiadrivers", "NVIDIADriver", False, model.NvidiaDriver
)
PRIORITYCLASSES: Final = Resource(
    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", False, model.PriorityClass
)
DEVICECLASSES: Final = Resource("resource.k8s.io", "v1", "deviceclasses", "DeviceClass", False, claims.DeviceClass)
RESOURCECLAIMS: Final = Resource("resource.k8s.io", "v1", "resourceclaims", "ResourceClaim", True, claims.ResourceClaim)
RESOURCESLICES: Final = Resource(
    "resource.k8s.io", "v1", "resourceslices", "ResourceSlice", False, claims.ResourceSlice
)
QUEUEDWORKLOADS: Final = Resource("kueue.x-k8s.io", "v1beta1", "workloads", "Workload", True, queues.QueuedWorkload)
VOLCANO_PODGROUPS: Final = Resource("scheduling.volcano.sh", "v1beta1", "podgroups", "PodGroup", True, queues.PodGroup)
KAI_PODGROUPS: Final = Resource("scheduling.run.ai", "v2alpha2", "podgroups", "PodGroup", True, queues.PodGroup)
NODECLAIMS: Final = Resource("karpenter.sh", "v1", "nodeclaims", "NodeClaim", False, queues.NodeClaim)
NODEFEATURES: Final = Resource("nfd.k8s-sigs.io", "v1alpha1", "nodefeatures", "NodeFeature", True, model.Resource)
GPUNODESTATES: Final = Resource(names.LOCKGATE_GROUP, "v1alpha1", "gpunodestates", "GPUNodeState", False, GPUNodeState)
# The same objects without the texts of files, for whoever follows those of a whole fleet; not a kind of its own.
NODE_STANDINGS: Final = Resource(names.LOCKGATE_GROUP, "v1alpha1", "gpunodestates", "GPUNodeState", False, NodeStanding)

ALL: Final[tuple[Resource[Any], ...]] = (
    NODES,
    PODS,
    EVENTS,
    NAMESPACES,
    CONFIGMAPS,
    SERVICES,
    SERVICEACCOUNTS,
    RESOURCEQUOTAS,
    PERSISTENTVOLUMECLAIMS,
    PERSISTENTVOLUMES,
    STORAGECLASSES,
    PODDISRUPTIONBUDGETS,
    DAEMONSETS,
    CONTROLLERREVISIONS,
    DEPLOYMENTS,
    REPLICASETS,
    STATEFULSETS,
    JOBS,
    CRONJOBS,
    RUNTIMECLASSES,
    LEASES,
    CUSTOMRESOURCEDEFINITIONS,
    CLUSTERPOLICIES,
    NVIDIADRIVERS,
    PRIORITYCLASSES,
    DEVICECLASSES,
    RESOURCECLAIMS,
    RESOURCESLICES,
    QUEUEDWORKLOADS,
    VOLCANO_PODGROUPS,
    KAI_PODGROUPS,
    NODECLAIMS,
    LIMITRANGES,
    NODEFEATURES,
    GPUNODESTATES,
)
WORKLOADS: Final[dict[str, Resource[Any]]] = {
    row.kind: row for row in (PODS, DEPLOYMENTS, REPLICASETS, STATEFULSETS, DAEMONSETS, JOBS, CRONJOBS)
}
"""Pods and what Kubernetes itself makes pods from, by kind."""
_BY_KIND: Final = {(resource.api_version, resource.kind): resource for resource in ALL}


def find(api_version: str, kind: str) -> Resource[Any]:
    """The row of a manifest's `apiVersion` and `kind`; KeyError names what is missing from the table."""
    try:
        return _BY_KIND[api_version, kind]
    except KeyError:
        raise KeyError(f"{kind} of {api_version} is not in lockgate.kube.resources") from None
