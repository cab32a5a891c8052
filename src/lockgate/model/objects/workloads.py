"""What makes pods: DaemonSets, Deployments and their like, Jobs."""

from lockgate.model.objects.meta import Condition, Object, Resource
from lockgate.model.objects.placement import LabelSelector
from lockgate.model.objects.pods import PodTemplate


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
