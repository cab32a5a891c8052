"""A rolling update of a Deployment that cannot go on: its old pods hold what its new one waits for.

The update makes new pods first (`maxSurge`), and ends old ones once those are ready: without a GPU to spare neither
happens.
"""

from collections.abc import Iterable

from lockgate.model.facts import Missing, Pods
from lockgate.model.finding import Remedy, Risk
from lockgate.model.objects import Pod

_HASH = "pod-template-hash"


def old_holder(pod: Pod, holders: Iterable[str], pods: Pods | Missing) -> str:
    """The first of the holders (namespace/name) that is an older pod of the same Deployment and stays; or ""."""
    deployment, named = deployment_of(pod), set(holders)
    near = () if isinstance(pods, Missing) or not deployment else (p for p in pods if p.namespace == pod.namespace)
    places = ((p, f"{p.namespace}/{p.name}") for p in near)
    return next((place for p, place in places if place in named and _is_older(p, pod, deployment)), "")


def deployment_of(pod: Pod) -> str:
    """The Deployment whose pod it is, by its ReplicaSet's name: that of the Deployment and its template's hash."""
    told = pod.metadata.labels.get(_HASH, "")
    owner = next((o.name for o in pod.metadata.owner_references if o.controller and o.kind == "ReplicaSet"), "")
    return owner.removesuffix(f"-{told}") if told and owner.endswith(f"-{told}") else ""


def end_old_first(pod: Pod) -> Remedy:
    """Let the update end old pods before it makes new ones; the old one is gone meanwhile."""
    patch = '{"spec":{"strategy":{"type":"Recreate","rollingUpdate":null}}}'
    command = f"kubectl patch deployment -n {pod.namespace} {deployment_of(pod)} --type merge -p '{patch}'"
    return Remedy("Let the update end old pods first: strategy Recreate, or maxSurge 0", command, Risk.MEDIUM)


def _is_older(other: Pod, pod: Pod, deployment: str) -> bool:
    theirs, own = other.metadata, pod.metadata
    updated = deployment_of(other) == deployment and theirs.labels.get(_HASH) != own.labels.get(_HASH)
    made, later = theirs.creation_timestamp, own.creation_timestamp
    return updated and not theirs.deletion_timestamp and (made is None or later is None or made <= later)
