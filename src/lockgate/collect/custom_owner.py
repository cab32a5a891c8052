"""An object of a kind that no section holds (PyTorchJob, JobSet, RayCluster, Rollout) as an owner of pods.

Such kinds differ in where they keep their pod template, so it is looked for: the first that asks for a GPU, else the
first of all.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from lockgate.collect.errors import InputError, one_line
from lockgate.model import names
from lockgate.model.objects import Condition, Metadata, PodTemplate, Workload, WorkloadSpec, WorkloadStatus

_DEEPEST: Final = 12


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


def _template(spec: dict[str, Any]) -> PodTemplate:
    found = [msgspec.convert(each, PodTemplate) for each in _templates(spec, 0)]
    asking = [t for t in found if any(names.is_gpu_resource(r) for c in t.spec.containers for r in c.resources.limits)]
    return next(iter((*asking, *found)), PodTemplate())


def _templates(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """Everything that has `spec.containers`, whatever it lies in."""
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return
    if isinstance(value, dict) and isinstance(spec := value.get("spec"), dict) and spec.get("containers"):
        yield value
        return
    for each in value.values() if isinstance(value, dict) else value:
        yield from _templates(each, depth + 1)


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
