"""What every object of the Kubernetes API has: its metadata, its conditions, and how it is decoded."""

import datetime as dt
from typing import Annotated

import msgspec

Labels = dict[str, str]
Moment = Annotated[dt.datetime, msgspec.Meta(tz=True)]  # metav1.Time always has a zone; moments are compared


class Object(msgspec.Struct, frozen=True, rename="camel", gc=False, omit_defaults=True):
    """A value of the Kubernetes API; unknown fields are dropped when decoding."""


class OwnerReference(Object, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class Metadata(Object, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    creation_timestamp: Moment | None = None
    deletion_timestamp: Moment | None = None
    deletion_grace_period_seconds: int | None = None
    labels: Labels = {}
    annotations: Labels = {}
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()


class Resource(Object, frozen=True):
    """What every listed object has."""

    metadata: Metadata = Metadata()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace


class Condition(Object, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: Moment | None = None
    last_heartbeat_time: Moment | None = None
    observed_generation: int | None = None
