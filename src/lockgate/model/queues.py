"""What queueing systems and autoscalers say of the work and the nodes that they hold: partial, as an observer reads it.

Kueue's Workload (`kueue.x-k8s.io`), the PodGroups of Volcano (`scheduling.volcano.sh`), KAI (`scheduling.run.ai`) and
Kubernetes, Karpenter's NodeClaim (`karpenter.sh`).
"""

from lockgate.model.objects import Condition, Labels, Object, Resource


class QueuedWorkloadSpec(Object, frozen=True):
    queue_name: str = ""
    active: bool | None = None


class QueuedWorkloadStatus(Object, frozen=True):
    conditions: tuple[Condition, ...] = ()


class QueuedWorkload(Resource, frozen=True):
    """Kueue's Workload: one Job, or one group of pods, in a queue; its owner is what it stands for."""

    spec: QueuedWorkloadSpec = QueuedWorkloadSpec()
    status: QueuedWorkloadStatus = QueuedWorkloadStatus()


class PodGroupSpec(Object, frozen=True):
    queue: str = ""
    min_member: int | None = None


class PodGroupStatus(Object, frozen=True):
    phase: str = ""
    conditions: tuple[Condition, ...] = ()


class PodGroup(Resource, frozen=True):
    """Pods that are placed together or not at all."""

    spec: PodGroupSpec = PodGroupSpec()
    status: PodGroupStatus = PodGroupStatus()


class NodeClaimResources(Object, frozen=True):
    requests: dict[str, str | int] = {}


class NodeClaimSpec(Object, frozen=True):
    resources: NodeClaimResources = NodeClaimResources()


class NodeClaimStatus(Object, frozen=True):
    node_name: str = ""
    capacity: dict[str, str | int] = {}
    conditions: tuple[Condition, ...] = ()


class NodeClaim(Resource, frozen=True):
    """A node that Karpenter has ordered; it counts as initialized when every resource asked for is registered."""

    spec: NodeClaimSpec = NodeClaimSpec()
    status: NodeClaimStatus = NodeClaimStatus()

    @property
    def nodepool(self) -> str:
        """The NodePool that it belongs to."""
        labels: Labels = self.metadata.labels
        return labels.get("karpenter.sh/nodepool", "")
