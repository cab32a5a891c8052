"""GPU pods that have no node yet: what is asked for and not served."""

from collections.abc import Iterable

import msgspec

from lockgate.kit.by_identity import by_two
from lockgate.model import names
from lockgate.model.objects import Container, Pod
from lockgate.scheduling.node_fit import is_terminal
from lockgate.scheduling.requests import pod_requests


class Waiting(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One pod that waits: what it asks of a GPU resource, and whether a gate holds it back from the scheduler."""

    namespace: str
    pod: str
    resource: str
    count: int
    gated: bool = False


def waiting(pods: Iterable[Pod]) -> tuple[Waiting, ...]:
    """Every GPU pod without a node that is neither finished nor going away, by namespace and name."""
    found = [one for pod in pods if _waits(pod) for one in _of(pod)]
    return tuple(sorted(found, key=lambda one: (one.namespace, one.pod, one.resource)))


def gpu_requests(pod: Pod) -> dict[str, int]:
    """The GPU resources that a pod asks for."""
    if not _asks_gpus(pod.spec.containers, pod.spec.init_containers):
        return {}
    return {name: count for name, count in pod_requests(pod).items() if names.is_gpu_resource(name)}


@by_two
def _asks_gpus(containers: tuple[Container, ...], init: tuple[Container, ...]) -> bool:
    return any(names.is_gpu_resource(name) for each in (*containers, *init) for name in each.resources.requests)


def _waits(pod: Pod) -> bool:
    return not pod.spec.node_name and not is_terminal(pod) and pod.metadata.deletion_timestamp is None


def _of(pod: Pod) -> list[Waiting]:
    return [
        Waiting(
            namespace=pod.namespace,
            pod=pod.name,
            resource=resource,
            count=count,
            gated=bool(pod.spec.scheduling_gates),
        )
        for resource, count in gpu_requests(pod).items()
    ]
