"""Amounts in foreign input, checked at the door, so that all later arithmetic can trust them."""

from collections.abc import Iterator
from typing import Any

from lockgate.collect.errors import InputError
from lockgate.kit.quantity import parse_quantity
from lockgate.model.objects import CronJob, DaemonSet, Node, Pod, PodSpec, RuntimeClass, Workload


def check_quantities(name: str, value: Any) -> None:
    """Refuse amounts that the API server would never hand out."""
    for text in _quantities(value):
        try:
            parse_quantity(text)
        except ValueError as error:
            raise InputError(f"{name}: {_called(value)}: {error}") from None


def _called(value: Any) -> str:
    """A found object as a person would name it."""
    return f"{type(value).__name__} {value.metadata.name or 'without a name'}"


def _quantities(value: Any) -> Iterator[str | int | float]:
    match value:
        case Node():
            yield from (*value.status.capacity.values(), *value.status.allocatable.values())
        case Pod():
            yield from _of_spec(value.spec)
            for status in (*value.status.init_container_statuses, *value.status.container_statuses):
                yield from (status.allocated_resources or {}).values()
                yield from status.resources.requests.values() if status.resources else ()
        case Workload() | DaemonSet():
            yield from _of_spec(value.spec.template.spec)
        case CronJob():
            yield from _of_spec(value.spec.job_template.spec.template.spec)
        case RuntimeClass():
            yield from value.overhead.pod_fixed.values() if value.overhead else ()
        case _:
            return


def _of_spec(spec: PodSpec) -> Iterator[str | int | float]:
    for container in (*spec.init_containers, *spec.containers):
        yield from (*container.resources.requests.values(), *container.resources.limits.values())
    yield from spec.overhead.values()
    yield from (*spec.resources.requests.values(), *spec.resources.limits.values()) if spec.resources else ()
