"""Fields of a written policy that the interface does not have: the API server prunes them without a word.

What a person wrote survives in kubectl's `last-applied-configuration` annotation, so a pruned field can be told.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec.inspect as look

from lockgate.model.policy.spec import PolicySpec

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
# The user documentation shows the first; the interface has only the second.
INSTEAD: Final = {"spec.driver.upgradePolicy.gpuPodDeletion": "spec.driver.upgradePolicy.podDeletion"}


def unknown_fields(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Paths (`spec.driver.tpyo`) of fields that a ClusterPolicy does not have."""
    return tuple(_unknown("spec", spec, look.type_info(PolicySpec)))


def pruned_fields(annotations: Mapping[str, str]) -> tuple[str, ...]:
    """Paths of fields that were applied with kubectl and pruned; empty when nobody can know."""
    try:
        applied = json.loads(annotations.get(LAST_APPLIED, "{}"))
        return unknown_fields(applied.get("spec") or {})
    except (ValueError, AttributeError):
        return ()


def _unknown(path: str, value: Any, kind: look.Type) -> Iterator[str]:
    kind = _bare(kind)
    if isinstance(kind, look.StructType) and isinstance(value, Mapping):
        fields = {field.encode_name: field.type for field in kind.fields}
        for key, below in value.items():
            if key in fields:
                yield from _unknown(f"{path}.{key}", below, fields[key])
            else:
                yield f"{path}.{key}"
    elif isinstance(kind, look.VarTupleType) and isinstance(value, list):
        for index, below in enumerate(value):
            yield from _unknown(f"{path}[{index}]", below, kind.item_type)


def _bare(kind: look.Type) -> look.Type:
    """The type under annotations and `| None`."""
    if isinstance(kind, look.Metadata):
        return _bare(kind.type)
    if isinstance(kind, look.UnionType):
        members = [member for member in kind.types if not isinstance(member, look.NoneType)]
        return _bare(members[0]) if len(members) == 1 else kind
    return kind
