"""What those who run a cluster keep in it: budgets, settings, leases, the policies of a GPU operator."""

from typing import Any

from lockgate.model.objects.meta import Condition, Moment, Object, Resource
from lockgate.model.objects.placement import LabelSelector


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


class ConfigMap(Resource, frozen=True):
    """`is_absent` where it was asked for by its name and does not exist."""

    data: dict[str, str] = {}
    is_absent: bool = False


class LeaseSpec(Object, frozen=True):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: Moment | None = None
    renew_time: Moment | None = None
    lease_transitions: int | None = None


class Lease(Resource, frozen=True):
    spec: LeaseSpec = LeaseSpec()


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
