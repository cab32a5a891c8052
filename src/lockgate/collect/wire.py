"""What a long list of pods is decoded as: the few values that differ from pod to pod, and all else as JSON that stays
undecoded.

Replicas have most of their JSON in common. Written out again as it stood, it is the key under which `sharing` keeps the
one decoded copy: 100,000 pods then cost little more than finding where their values end.
"""

from typing import Any, Final

import msgspec

from lockgate.model import objects as model

_Field = tuple[Any, Any]  # type and default; a type as default makes a fresh value


def wire(kind: type[msgspec.Struct], **typed: _Field) -> Any:
    """A mutable Struct with the fields of `kind`, undecoded but for those given.

    Encoded it is JSON from which `kind` can be decoded; what is UNSET or has its default is not written.
    """
    fields = []
    for field in msgspec.structs.fields(kind):
        of, default = typed.get(field.name, _AS_IT_STANDS)
        made = {"default_factory": default} if isinstance(default, type) else {"default": default}
        fields.append((field.name, of, msgspec.field(name=field.encode_name, **made)))
    return msgspec.defstruct(f"{kind.__name__}Wire", fields, gc=False, omit_defaults=True)


def _own(kind: type[msgspec.Struct], *names: str) -> dict[str, _Field]:
    """Fields that are decoded as the model has them."""
    return {f.name: (f.type, f.default) for f in msgspec.structs.fields(kind) if f.name in names}


def _many(kind: Any) -> _Field:
    return tuple[kind, ...], ()


def _maybe(kind: Any) -> _Field:
    return kind | None, None


_AS_IT_STANDS: Final[_Field] = (msgspec.Raw | msgspec.UnsetType, msgspec.UNSET)
_NO_LABELS: Final[_Field] = (msgspec.Raw, msgspec.Raw(b"{}"))
_NO_OWNERS: Final[_Field] = (msgspec.Raw, msgspec.Raw(b"[]"))

_CONTAINERS: Final = _many(wire(model.Container))
_SPEC: Final = wire(
    model.PodSpec,
    **_own(model.PodSpec, "node_name", "volumes"),
    containers=_CONTAINERS,
    init_containers=_CONTAINERS,
)
_STATE: Final = wire(
    model.ContainerState,
    running=_maybe(wire(model.StateRunning)),
    terminated=_maybe(wire(model.StateTerminated)),
)
_STATUSES: Final = _many(
    wire(model.ContainerStatus, **_own(model.ContainerStatus, "ready", "restart_count"), state=(_STATE, _STATE))
)
_STATUS: Final = wire(
    model.PodStatus,
    **_own(model.PodStatus, "phase", "start_time"),
    conditions=_many(wire(model.Condition)),
    container_statuses=_STATUSES,
    init_container_statuses=_STATUSES,
)
_SHARED: Final = {"labels": _NO_LABELS, "annotations": _NO_LABELS, "owner_references": _NO_OWNERS}
_NAMED: Final = set(model.Metadata.__struct_fields__) - {"resource_version", "generation"}
_METADATA: Final = wire(model.Metadata, **_own(model.Metadata, *_NAMED) | _SHARED)

PodWire: Final = wire(model.Pod, metadata=(_METADATA, _METADATA), spec=(_SPEC, _SPEC), status=(_STATUS, _STATUS))
