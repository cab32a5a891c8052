"""Volumes and who claims them."""

from lockgate.model.objects.meta import Object, Resource
from lockgate.model.objects.placement import NodeSelector


class StorageClass(Resource, frozen=True):
    provisioner: str = ""
    volume_binding_mode: str = ""


class VolumeNodeAffinity(Object, frozen=True):
    required: NodeSelector | None = None


class PersistentVolumeSpec(Object, frozen=True):
    node_affinity: VolumeNodeAffinity | None = None
    storage_class_name: str = ""


class PersistentVolume(Resource, frozen=True):
    spec: PersistentVolumeSpec = PersistentVolumeSpec()


class PersistentVolumeClaimSpec(Object, frozen=True):
    storage_class_name: str | None = None
    volume_name: str = ""


class PersistentVolumeClaimStatus(Object, frozen=True):
    phase: str = ""


class PersistentVolumeClaim(Resource, frozen=True):
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: PersistentVolumeClaimStatus = PersistentVolumeClaimStatus()
