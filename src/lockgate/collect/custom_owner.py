"""An object of a kind that no section holds (PyTorchJob, JobSet, RayCluster, Rollout) as an owner of pods.

Such kinds differ in where they keep their pod template, so it is looked for: the first that asks for a GPU, else the
first of all.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from lockgate.collect.errors import InputError, one_line
from lockgate.model import names
from lockgate.model.objects import Condition, Metadata, PodTemplate, Workload, WorkloadSpec, WorkloadStatus

_DEEPEST: Final = 12
_COUNTS: Final = ("replicas", "parallelism")
_NAMES: Final = ("name", "groupName")
_UNSAID: Final = frozenset(("template", "spec"))  # they say nothing about where a template lies


class Found(NamedTuple):
    """A pod template in an object: the keys on the way to it, itself, and how many pods it is for."""

    path: tuple[str, ...]
    template: dict[str, Any]
    copies: int


def parse_owner(name: str, raw: Mapping[str, Any]) -> Workload:
    """The owner; raises InputError where its pod template is none."""
    spec = raw.get("spec")
    spec = spec if isinstance(spec, dict) else {}
    try:
        return Workload(
            metadata=msgspec.convert(raw.get("metadata") or {}, Metadata),
            kind=str(raw.get("kind", "")),
            spec=WorkloadSpec(template=_template(spec), suspend=_suspended(spec)),
            status=WorkloadStatus(conditions=tuple(_conditions(raw))),
        )
    except msgspec.ValidationError as error:
        raise InputError(f"{name}: no valid {raw.get('kind', 'object')}: {one_line(error)}") from None


def pod_templates(value: Any, path: tuple[str, ...] = (), copies: int = 1) -> Iterator[Found]:
    """Everything that has `spec.containers`, whatever it lies in."""
    if len(path) > _DEEPEST or not isinstance(value, dict | list):
        return
    if isinstance(value, dict) and isinstance(spec := value.get("spec"), dict) and spec.get("containers"):
        yield Found(tuple(key for key in path if key not in _UNSAID), value, copies)
        return
    many = copies * _copies(value) if isinstance(value, dict) else copies
    for key, each in _children(value):
        yield from pod_templates(each, (*path, key), many)


def _children(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str, Any]]:
    """What is inside, by its key; members of a list by their name."""
    if isinstance(value, dict):
        yield from value.items()
        return
    for number, each in enumerate(value):
        named = next((each[k] for k in _NAMES if isinstance(each.get(k), str)), "") if isinstance(each, dict) else ""
        yield named or str(number), each


def _copies(value: dict[str, Any]) -> int:
    """How many of what is inside: `replicas` of a group, `parallelism` of a job in a group."""
    counts = (value.get(key) for key in _COUNTS)
    return math.prod(count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count > 0)


def _template(spec: dict[str, Any]) -> PodTemplate:
    found = [msgspec.convert(each.template, PodTemplate) for each in pod_templates(spec)]
    asking = [t for t in found if any(names.is_gpu_resource(r) for c in t.spec.containers for r in c.resources.limits)]
    return next(iter((*asking, *found)), PodTemplate())


def _suspended(spec: dict[str, Any]) -> bool:
    """`spec.suspend` (RayJob, JobSet), `spec.runPolicy.suspend` (the training operator's kinds)."""
    policy = spec.get("runPolicy")
    return spec.get("suspend") is True or (isinstance(policy, dict) and policy.get("suspend") is True)


def _conditions(raw: Mapping[str, Any]) -> Iterator[Condition]:
    status = raw.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for each in conditions if isinstance(conditions, list) else ():
        if isinstance(each, dict) and isinstance(each.get("type"), str):
            kind, state, reason, words = (str(each.get(k) or "") for k in ("type", "status", "reason", "message"))
            yield Condition(type=kind, status=state, reason=reason, message=words)
