"""What the API server makes of a pod when it is created, or why it refuses it: classes that it names, amounts.

Source: kubernetes 1.37 plugin/pkg/admission/runtimeclass/admission.go (on by default), which merges overhead,
nodeSelector and tolerations of the class into the pod. The plugin drops tolerations that others cover, here they stay:
no node tells the difference.
"""

from collections.abc import Iterator, Mapping

import msgspec

from lockgate.kit.quantity import parse_quantity
from lockgate.model.objects import Container, PodSpec, PriorityClass, RuntimeClass, Toleration
from lockgate.scheduling.amounts import MEANING, is_device, refused_amounts
from lockgate.scheduling.requests import Quantity, defaulted

Classes = Mapping[str, RuntimeClass]
_UNLIKE = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
_UNFOUNDED = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"


class Admitted(msgspec.Struct, frozen=True, kw_only=True):
    """The spec as it would be stored, or in `refused` all reasons why there would be no pod.

    `added` says what its RuntimeClass adds, `undecided` what is not known of it.
    """

    spec: PodSpec
    refused: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()


def admit(spec: PodSpec, classes: Classes | None, priorities: Mapping[str, PriorityClass] | None = None) -> Admitted:
    """Defaults, RuntimeClass, PriorityClass, amounts; classes are by name, None where they were not read."""
    stored = defaulted(spec)
    others = (*_unknown_priority(spec, priorities), *_amounts(stored))
    name = spec.runtime_class_name
    if not name:
        return Admitted(spec=stored, refused=((_UNFOUNDED,) if spec.overhead else ()) + others)
    if classes is None:
        unread = f"RuntimeClass {name}: its overhead, nodeSelector and tolerations, since RuntimeClasses were not read"
        return Admitted(spec=stored, refused=others, undecided=(unread,))
    if name not in classes:
        return Admitted(spec=stored, refused=(_not_found(name, classes), *others))
    of_class = classes[name]
    refused = (*_conflicts(stored, of_class), *others)
    return Admitted(spec=_merged(stored, of_class), refused=refused, added=tuple(_added(of_class)))


def _unknown_priority(spec: PodSpec, priorities: Mapping[str, PriorityClass] | None) -> Iterator[str]:
    """In the words of plugin/pkg/admission/priority; the API server itself makes the two system classes."""
    name = spec.priority_class_name
    if name and priorities is not None and name not in priorities and not name.startswith("system-"):
        yield f"no PriorityClass with name {name} was found; there is {', '.join(sorted(priorities)) or 'none'}"


def _not_found(name: str, classes: Classes) -> str:
    return f'pod rejected: RuntimeClass "{name}" not found; there is {", ".join(sorted(classes)) or "none"}'


def _conflicts(spec: PodSpec, of_class: RuntimeClass) -> Iterator[str]:
    fixed = of_class.overhead.pod_fixed if of_class.overhead else {}
    if spec.overhead and of_class.overhead is None:
        yield _UNFOUNDED
    elif spec.overhead and _exact(spec.overhead) != _exact(fixed):
        yield _UNLIKE
    selector = of_class.scheduling.node_selector if of_class.scheduling else {}
    for key, wanted in selector.items():
        if (own := spec.node_selector.get(key, wanted)) != wanted:
            of_both = f"nodeSelector[{key}] = {wanted}; pod.spec.nodeSelector[{key}] = {own}"
            yield f"conflict: runtimeClass.scheduling.{of_both}"


def _merged(spec: PodSpec, of_class: RuntimeClass) -> PodSpec:
    if of_class.overhead:
        spec = msgspec.structs.replace(spec, overhead=of_class.overhead.pod_fixed)
    if of_class.scheduling is None:
        return spec
    return msgspec.structs.replace(
        spec,
        node_selector={**spec.node_selector, **of_class.scheduling.node_selector},
        tolerations=(*spec.tolerations, *of_class.scheduling.tolerations),
    )


def _added(of_class: RuntimeClass) -> Iterator[str]:
    parts = []
    if of_class.overhead and of_class.overhead.pod_fixed:
        parts.append(f"overhead {_listed(of_class.overhead.pod_fixed)}")
    if of_class.scheduling and of_class.scheduling.node_selector:
        parts.append(f"nodeSelector {_listed(of_class.scheduling.node_selector)}")
    if of_class.scheduling and of_class.scheduling.tolerations:
        parts.append(f"tolerations of {', '.join(map(_tolerated, of_class.scheduling.tolerations))}")
    if parts:
        yield f"RuntimeClass {of_class.name} adds {'; '.join(parts)}"


def _tolerated(toleration: Toleration) -> str:
    value = f"={toleration.value}" if toleration.value else ""
    return f"{toleration.key or 'any key'}{value}{f':{toleration.effect}' if toleration.effect else ''}"


def _listed(values: Mapping[str, Quantity]) -> str:
    return ", ".join(f"{key}={value}" for key, value in values.items())


def _exact(quantities: Mapping[str, Quantity]) -> Mapping[str, object]:
    return {name: parse_quantity(quantity) for name, quantity in quantities.items()}


def _amounts(spec: PodSpec) -> Iterator[str]:
    for container in (*spec.init_containers, *spec.containers):
        yield from (f"{MEANING[each.fault]}: {each.note}" for each in refused_amounts(container))
        yield from _above_limit(container)


def _above_limit(container: Container) -> Iterator[str]:
    """Requests of cpu, memory and the like that are more than their limit, or less than nothing."""
    limits = container.resources.limits
    for name, asked in container.resources.requests.items():
        if is_device(name):
            continue
        if parse_quantity(asked) < 0:
            yield f"{container.name} requests {asked} of {name}: must be greater than or equal to 0"
        elif name in limits and parse_quantity(asked) > parse_quantity(limits[name]):
            yield f"{container.name} requests {asked} of {name}: must be less than or equal to its limit {limits[name]}"
