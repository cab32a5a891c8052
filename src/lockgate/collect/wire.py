"""What a long list of pods is decoded as: the few values that differ from pod to pod, and all else as JSON that stays
undecoded.

Replicas have most of their JSON in common: as it stood it is compared with what was said before, or written out again
as the key of the one decoded copy (`copies`). 100,000 pods then cost little more than finding where their values end.
"""

from collections.abc import Callable
from operator import attrgetter
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
SpecWire: Final = wire(
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
StatusWire: Final = wire(
    model.PodStatus,
    **_own(model.PodStatus, "phase", "start_time"),
    conditions=_many(wire(model.Condition)),
    container_statuses=_STATUSES,
    init_container_statuses=_STATUSES,
)
_SHARED: Final = {"labels": _NO_LABELS, "annotations": _NO_LABELS, "owner_references": _NO_OWNERS}
_NAMED: Final = set(model.Metadata.__struct_fields__) - {"resource_version", "generation"}
_METADATA: Final = wire(model.Metadata, **_own(model.Metadata, *_NAMED) | _SHARED)

_POD: Final = wire(
    model.Pod, metadata=(_METADATA, _METADATA), spec=(SpecWire, SpecWire), status=(StatusWire, StatusWire)
)


def pods_made(make: Callable[[Any], model.Pod]) -> tuple[Any, Callable[[Any], model.Pod]]:
    """A type for pods, of which `make` makes each as soon as it is decoded, and what gives the made one.

    Its parts are gone before the next one comes, which then has their memory, while it is in the processor's cache: a
    page of 500 pods would be out of it. So the made pod stands in place of the metadata.
    """

    def at_once(self: Any) -> None:
        self.metadata = make(self)
        self.spec = self.status = None

    made = msgspec.defstruct("PodWire", [], bases=(_POD,), namespace={"__post_init__": at_once}, gc=False)
    return made, attrgetter("metadata")
