"""What a pod asks of a node, resource by resource, in the units the scheduler counts in.

`cpu` is in millicores, everything else in whole units (bytes, devices). Sums are exact and rounded up once a pod, as
the scheduler does. Source: k8s.io/component-helpers v0.37 resource/helpers.go (PodRequests) and kube-scheduler 1.37
framework/types.go (CalculateResource, SetMaxResource); the gates are those that 1.37 has on by default.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from math import ceil

import msgspec

from lockgate.kit.by_identity import by_identity, by_two
from lockgate.kit.quantity import parse_quantity
from lockgate.model.objects import Condition, Container, ContainerStatus, Pod, PodSpec, ResourceRequirements
from lockgate.scheduling.taints import admitted_tolerations

Quantity = str | int | float
Amounts = Mapping[str, int]  # shared by all who ask alike, so nobody may change one
_Exact = dict[str, Decimal]
_Chooser = Callable[[Container, ContainerStatus | None, bool], Mapping[str, Quantity] | None]

CPU = "cpu"
MEMORY = "memory"
STORAGE = "ephemeral-storage"
PODS = "pods"
_ALWAYS_COUNTED = frozenset((CPU, MEMORY, STORAGE))
_PREFIXES = ("hugepages-", "attachable-volumes-")
_POD_LEVEL = frozenset((CPU, MEMORY))

_quantity = lru_cache(maxsize=65536)(parse_quantity)


def pod_requests(pod: Pod) -> Amounts:
    """What the scheduler looks for when it places this pod: its spec alone, zero amounts left out."""
    return spec_requests(pod.spec)


def spec_requests(spec: PodSpec) -> Amounts:
    """The same for a spec that is not a pod yet; take `defaulted` first for one that the API server has not seen."""
    if not spec.overhead and spec.resources is None:
        return _asked_by(spec.containers, spec.init_containers)
    total = _containers(spec, {}, False, _spec_of)
    if spec.resources is not None:
        _apply_pod_level(total, _exact(spec.resources.requests))
    return _rounded(_plus_overhead(total, spec))


def accounted_requests(pod: Pod) -> Amounts:
    """What a pod that has a node takes from it: during an in-place resize the most of desired, allocated, actuated."""
    spec, status = pod.spec, pod.status
    more = spec.init_containers or spec.overhead or spec.resources is not None
    if more or status.resources is not None or status.allocated_resources is not None:
        return _accounted(pod)
    plain = _plain(spec.containers, status.container_statuses)  # as most are: one look-up for all of one kind
    return _accounted(pod) if plain is None or _say_infeasible(status.conditions) else plain


@by_two
def _plain(containers: tuple[Container, ...], statuses: tuple[ContainerStatus, ...]) -> Amounts | None:
    """What containers ask for, where no status says another size."""
    return None if _say_otherwise(statuses, containers) else _asked_by(containers, ())


def _accounted(pod: Pod) -> Amounts:
    if not _resized(pod):
        return spec_requests(pod.spec)
    total = _with_status(pod)
    spec = pod.spec.resources
    if spec is not None and any(map(is_pod_level, spec.requests)):
        _apply_pod_level(total, _effective_pod_level(pod, spec))
    return _rounded(_plus_overhead(total, pod.spec))


@lru_cache(maxsize=4096)
def is_counted(name: str) -> bool:
    """Whether the scheduler counts a resource: cpu, memory, ephemeral-storage, huge pages, any name with a domain."""
    return name in _ALWAYS_COUNTED or name.startswith(_PREFIXES) or ("/" in name and not name.startswith("requests."))


def is_pod_level(name: str) -> bool:
    """Whether `spec.resources` of a pod may set a resource: cpu, memory and huge pages may, devices may not."""
    return name in _POD_LEVEL or name.startswith("hugepages-")


def amount(name: str, quantity: Quantity | Decimal) -> int:
    """One quantity in the scheduler's units, rounded up: millicores for cpu, whole units otherwise."""
    exact = quantity if isinstance(quantity, Decimal) else _quantity(quantity)
    return ceil(exact * 1000) if name == CPU else ceil(exact)


@by_identity
def amounts(quantities: Mapping[str, Quantity]) -> Amounts:
    """A resource list, for example `status.allocatable`, in the scheduler's units, without names it does not count."""
    return {name: amount(name, q) for name, q in quantities.items() if is_counted(name) or name == PODS}


def defaulted(spec: PodSpec) -> PodSpec:
    """A spec as the API server stores it: requests filled from limits, tolerations of nodes that are not ready added.

    Source: pkg/apis/core/v1/defaults.go SetDefaults_Pod and admission DefaultTolerationSeconds; both are done for pods,
    never inside pod templates.
    """
    return msgspec.structs.replace(
        spec,
        tolerations=admitted_tolerations(spec.tolerations),
        containers=_defaulted_containers(spec.containers),
        init_containers=_defaulted_containers(spec.init_containers),
    )


def defaulted_requests(spec: PodSpec) -> Amounts:
    """What a spec asks for once the API server has stored it: as `spec_requests(defaulted(spec))`, and sooner."""
    containers, init = _defaulted_containers(spec.containers), _defaulted_containers(spec.init_containers)
    if containers is not spec.containers or init is not spec.init_containers:
        spec = msgspec.structs.replace(spec, containers=containers, init_containers=init)
    return spec_requests(spec)


@by_identity
def _defaulted_containers(containers: tuple[Container, ...]) -> tuple[Container, ...]:
    """The same tuple where nothing is to be filled in."""
    filled = tuple(map(_defaulted_container, containers))
    return containers if filled == containers else filled


def _defaulted_container(container: Container) -> Container:
    wanted = {**container.resources.limits, **container.resources.requests}
    if wanted == container.resources.requests:
        return container
    resources = msgspec.structs.replace(container.resources, requests=wanted)
    return msgspec.structs.replace(container, resources=resources)


# --- containers


def _spec_of(container: Container, _status: ContainerStatus | None, _infeasible: bool) -> Mapping[str, Quantity] | None:
    return container.resources.requests


def _allocated_of(
    container: Container, status: ContainerStatus | None, infeasible: bool
) -> Mapping[str, Quantity] | None:
    if status is not None and status.allocated_resources is not None:
        return status.allocated_resources
    return None if infeasible else container.resources.requests


def _actuated_of(
    container: Container, status: ContainerStatus | None, infeasible: bool
) -> Mapping[str, Quantity] | None:
    # An empty `requests` is omitted on the wire, so absent and empty read alike here; both fall through, as nil does.
    if status is not None and status.resources is not None and status.resources.requests:
        return status.resources.requests
    return _allocated_of(container, status, infeasible)


def _containers(spec: PodSpec, statuses: Mapping[str, ContainerStatus], infeasible: bool, choose: _Chooser) -> _Exact:
    """Sum of app containers and sidecars, or the largest init phase where that is more (KEP-753)."""
    total: _Exact = {}
    for container in spec.containers:
        _add(total, _exact(choose(container, statuses.get(container.name), infeasible)))
    sidecars: _Exact = {}
    largest_init: _Exact = {}
    for container in spec.init_containers:
        asked = _exact(choose(container, statuses.get(container.name), infeasible))
        if container.restart_policy == "Always":
            _add(total, asked)
            _add(sidecars, asked)
            asked = dict(sidecars)
        else:
            _add(asked, sidecars)
        _raise_to(largest_init, asked)
    _raise_to(total, largest_init)
    return total


@lru_cache(maxsize=65536)
def _units(name: str, quantity: Quantity) -> int | None:
    """A quantity in the scheduler's units where it is whole in them: such amounts may be added up after rounding."""
    exact = _quantity(quantity) * 1000 if name == CPU else _quantity(quantity)
    return int(exact) if exact == int(exact) else None


@by_two
def _asked_by(containers: tuple[Container, ...], init: tuple[Container, ...]) -> Amounts:
    """What containers ask for together; by plain integers where there are no init containers and amounts are whole."""
    total = None if init else _sum(containers)
    if total is None:
        return _rounded(_containers(PodSpec(containers=containers, init_containers=init), {}, False, _spec_of))
    return {name: units for name, units in total.items() if units and is_counted(name)}


def _sum(containers: tuple[Container, ...]) -> dict[str, int] | None:
    total: dict[str, int] = {}
    for container in containers:
        for name, quantity in container.resources.requests.items():
            units = _units(name, quantity)
            if units is None:
                return None
            total[name] = total.get(name, 0) + units
    return total


# --- in-place resize


def _with_status(pod: Pod) -> _Exact:
    infeasible = resize_infeasible(pod)
    statuses = {status.name: status for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)}
    total: _Exact = {} if infeasible else _containers(pod.spec, statuses, infeasible, _spec_of)
    status = pod.status
    # Pod-level status already holds the sum over the containers; 1.37 reads it where the kubelet fills it.
    if status.allocated_resources is not None and status.resources is not None and status.resources.requests:
        allocated = _exact(status.allocated_resources)
        actuated = _exact(status.resources.requests)
    else:
        allocated = _containers(pod.spec, statuses, infeasible, _allocated_of)
        actuated = _containers(pod.spec, statuses, infeasible, _actuated_of)
    _raise_to(total, allocated)
    _raise_to(total, actuated)
    return total


def resize_infeasible(pod: Pod) -> bool:
    """Whether the kubelet has called a wanted in-place resize infeasible, so that the old size still counts."""
    return _say_infeasible(pod.status.conditions)


@by_identity
def _say_infeasible(conditions: tuple[Condition, ...]) -> bool:
    pending = next((c for c in conditions if c.type == "PodResizePending"), None)
    return pending is not None and pending.reason == "Infeasible"


def _resized(pod: Pod) -> bool:
    """Whether any status says another size than the spec; where none does the spec alone counts, as for most pods."""
    spec, status = pod.spec, pod.status
    if status.allocated_resources is not None or status.resources is not None or _say_infeasible(status.conditions):
        return True
    if _say_otherwise(status.container_statuses, spec.containers):
        return True
    return bool(status.init_container_statuses) and _say_otherwise(status.init_container_statuses, spec.init_containers)


@by_two
def _say_otherwise(statuses: tuple[ContainerStatus, ...], containers: tuple[Container, ...]) -> bool:
    wanted = {container.name: container.resources.requests for container in containers}
    return any(_says_otherwise(each, wanted.get(each.name, {})) for each in statuses)


def _says_otherwise(status: ContainerStatus, wanted: Mapping[str, Quantity]) -> bool:
    allocated, actuated = status.allocated_resources, status.resources
    if allocated is not None and allocated != wanted:
        return True
    return actuated is not None and bool(actuated.requests) and actuated.requests != wanted


def _effective_pod_level(pod: Pod, spec: ResourceRequirements) -> _Exact:
    if pod.status.resources is None:
        return _exact(spec.requests)
    wanted = {} if resize_infeasible(pod) else _exact(spec.requests)
    _raise_to(wanted, _exact(pod.status.resources.requests))
    _raise_to(wanted, _exact(pod.status.allocated_resources))
    return wanted


# --- exact sums


def _exact(quantities: Mapping[str, Quantity] | None) -> _Exact:
    return {name: _quantity(q) for name, q in quantities.items()} if quantities else {}


def _add(total: _Exact, more: _Exact) -> None:
    for name, quantity in more.items():
        total[name] = total.get(name, Decimal(0)) + quantity


def _raise_to(total: _Exact, floor: _Exact) -> None:
    for name, quantity in floor.items():
        if quantity > total.get(name, Decimal(-1)):
            total[name] = quantity


def _apply_pod_level(total: _Exact, wanted: _Exact) -> None:
    total.update({name: quantity for name, quantity in wanted.items() if is_pod_level(name)})


def _plus_overhead(total: _Exact, spec: PodSpec) -> _Exact:
    _add(total, _exact(spec.overhead))
    return total


def _rounded(total: _Exact) -> Amounts:
    return {name: amount(name, quantity) for name, quantity in total.items() if quantity and is_counted(name)}
