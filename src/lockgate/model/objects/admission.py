"""What the API server judges and completes pods by: classes, quotas, ranges, namespaces."""

from lockgate.model.objects.meta import Labels, Object, Resource
from lockgate.model.objects.placement import Toleration


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


class PriorityClass(Resource, frozen=True):
    value: int = 0
    global_default: bool = False
    preemption_policy: str = ""


class ResourceQuotaSpec(Object, frozen=True):
    hard: dict[str, str | int] = {}


class ResourceQuotaStatus(Object, frozen=True):
    hard: dict[str, str | int] = {}
    used: dict[str, str | int] = {}


class ResourceQuota(Resource, frozen=True):
    spec: ResourceQuotaSpec = ResourceQuotaSpec()
    status: ResourceQuotaStatus = ResourceQuotaStatus()


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


class NamespaceStatus(Object, frozen=True):
    phase: str = ""


class Namespace(Resource, frozen=True):
    status: NamespaceStatus = NamespaceStatus()
