"""Claims and volumes: what must be bound first, and which nodes a bound volume can be attached to.

Source: kube-scheduler 1.37 plugins/volumebinding and volumezone. Not modelled, and said so by `unmodelled`: which free
volume an unbound claim of a WaitForFirstConsumer class would get, attach limits, and ReadWriteOncePod conflicts.
"""

from collections.abc import Iterator

from lockgate.model.objects import PersistentVolume, PersistentVolumeClaim, Pod
from lockgate.scheduling.refusal import Check, Refusal, Rejected
from lockgate.scheduling.scene import NodeView, Storage
from lockgate.scheduling.selectors import matches_term

_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
_WAIT = "WaitForFirstConsumer"
_BETA = "failure-domain.beta.kubernetes.io/"
_GA = "topology.kubernetes.io/"
_ZONE_KEYS = (f"{_BETA}zone", f"{_BETA}region", f"{_GA}zone", f"{_GA}region")
_OTHER_NODE = Refusal(plugin="VolumeBinding", reasons=("node(s) didn't match PersistentVolume's node affinity",))
_NO_VOLUME = Refusal(
    plugin="VolumeBinding", reasons=("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",)
)
_OTHER_ZONE = Refusal(plugin="VolumeZone", reasons=("node(s) had no available volume zone",))


def claim_names(pod: Pod) -> tuple[str, ...]:
    """The claims a pod mounts, those of generic ephemeral volumes by the name that their controller gives them."""
    return tuple(
        volume.persistent_volume_claim.claim_name if volume.persistent_volume_claim else f"{pod.name}-{volume.name}"
        for volume in pod.spec.volumes
        if volume.persistent_volume_claim or volume.ephemeral
    )


def rejection(pod: Pod, storage: Storage) -> Rejected | None:
    """What the scheduler says before it looks at a node: a claim is missing, lost, going away or not bound yet."""
    for name in claim_names(pod):
        claim = storage.claims.get((pod.namespace, name))
        if claim is None:
            return Rejected(plugin="VolumeBinding", message=_missing(pod, name))
        if message := _unusable(claim):
            return Rejected(plugin="VolumeBinding", message=message)
    if any(_must_be_bound_first(claim, storage) for claim in _claims(pod, storage)):
        return Rejected(plugin="VolumeBinding", message="pod has unbound immediate PersistentVolumeClaims")
    return None


def check_binding(pod: Pod, storage: Storage) -> Check | None:
    """Whether each bound volume may be used on a node, by the volume's own node affinity; None without bound claims."""
    names, volumes = _bound_volumes(pod, storage), storage.volumes
    if not names or volumes is None:
        return None

    def on(view: NodeView) -> Refusal | None:
        for name in names:
            volume = volumes.get(name)
            if volume is None:
                return _NO_VOLUME
            if not _reachable(volume, view):
                return _OTHER_NODE
        return None

    return on


def check_zone(pod: Pod, storage: Storage) -> Check | None:
    """Whether each bound volume's zone and region labels agree with the node's; None without such labels."""
    bound = [(storage.volumes or {}).get(name) for name in _bound_volumes(pod, storage)]
    zones = [zone for volume in bound if volume for zone in _zones(volume)]
    if not zones:
        return None

    def on(view: NodeView) -> Refusal | None:
        labels = view.node.metadata.labels
        if not any(key in labels for key in _ZONE_KEYS):
            return None
        agrees = all(labels.get(key, labels.get(key.replace(_BETA, _GA))) in values for key, values in zones)
        return None if agrees else _OTHER_ZONE

    return on


def unmodelled(pod: Pod, storage: Storage | None) -> tuple[str, ...]:
    """What about the pod's volumes this model does not decide, in words for a person."""
    names = claim_names(pod)
    if not names:
        return ()
    if storage is None:
        return (f"volumes: claims {', '.join(names)} were not read",)
    return tuple(_unmodelled(pod, storage))


def is_bound(claim: PersistentVolumeClaim) -> bool:
    """Whether a claim has its volume for good."""
    completed = _BIND_COMPLETED in claim.metadata.annotations or claim.status.phase == "Bound"
    return bool(claim.spec.volume_name) and completed


def _unmodelled(pod: Pod, storage: Storage) -> Iterator[str]:
    if storage.volumes is None and (bound := _bound_volumes(pod, storage)):
        yield f"volumes: from which nodes {', '.join(bound)} can be reached, since PersistentVolumes were not read"
    waiting = [c.name for c in _claims(pod, storage) if not is_bound(c) and not _must_be_bound_first(c, storage)]
    if waiting:
        yield f"volumes: which volume the unbound claims {', '.join(waiting)} would get on a node"


def _bound_volumes(pod: Pod, storage: Storage) -> list[str]:
    return [claim.spec.volume_name for claim in _claims(pod, storage) if is_bound(claim)]


def _missing(pod: Pod, name: str) -> str:
    if any(volume.ephemeral and f"{pod.name}-{volume.name}" == name for volume in pod.spec.volumes):
        return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{name}"'
    return f'persistentvolumeclaim "{name}" not found'


def _unusable(claim: PersistentVolumeClaim) -> str:
    if claim.status.phase == "Lost":
        volume = claim.spec.volume_name
        return f'persistentvolumeclaim "{claim.name}" bound to non-existent persistentvolume "{volume}"'
    if claim.metadata.deletion_timestamp is not None:
        return f'persistentvolumeclaim "{claim.name}" is being deleted'
    return ""


def _must_be_bound_first(claim: PersistentVolumeClaim, storage: Storage) -> bool:
    """Whether the scheduler waits for the claim to be bound; not said where the classes were not read."""
    if is_bound(claim):
        return False
    if storage.classes is None:
        return bool(claim.spec.volume_name)
    storage_class = storage.classes.get(claim.spec.storage_class_name or "")
    waits = storage_class is not None and storage_class.volume_binding_mode == _WAIT
    return not waits or bool(claim.spec.volume_name)


def _claims(pod: Pod, storage: Storage) -> Iterator[PersistentVolumeClaim]:
    found = (storage.claims.get((pod.namespace, name)) for name in claim_names(pod))
    return (claim for claim in found if claim is not None)


def _reachable(volume: PersistentVolume, view: NodeView) -> bool:
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return any(matches_term(term, view.node) for term in affinity.required.node_selector_terms)


def _zones(volume: PersistentVolume) -> Iterator[tuple[str, frozenset[str]]]:
    """Zone labels of a volume; one that spans several zones joins them with `__`."""
    for key in _ZONE_KEYS:
        if value := volume.metadata.labels.get(key):
            yield key, frozenset(value.split("__"))
