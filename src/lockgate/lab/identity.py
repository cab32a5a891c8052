"""Names that follow from others: UUIDs and names of MIG devices, profiles of their instances."""

import uuid

from lockgate.lab.state import ComputeInstance, Gpu, GpuInstance
from lockgate.mig.products import PRODUCTS, Profile


def mig_uuid(gpu: Gpu, gpu_instance: GpuInstance, compute_instance: ComputeInstance) -> str:
    """`MIG-<uuid>`: the same for the same place on the same GPU, as on real boards since R470."""
    place = f"{gpu_instance.profile}/{gpu_instance.start}/{compute_instance.profile}/{compute_instance.start}"
    return f"MIG-{uuid.uuid5(uuid.UUID(gpu.uuid.removeprefix('GPU-')), place)}"


def profiles(gpu: Gpu) -> tuple[Profile, ...]:
    """The MIG profiles of this GPU's board; none when it has no MIG."""
    return PRODUCTS.get(gpu.product.device_id, ())


def profile_of(gpu: Gpu, gpu_instance: GpuInstance) -> Profile:
    """The profile that the instance was made from."""
    return next(profile for profile in profiles(gpu) if profile.id == gpu_instance.profile)


def mig_name(gpu: Gpu, gpu_instance: GpuInstance, compute_instance: ComputeInstance) -> str:
    """`3g.20gb`, or `1c.3g.20gb` for a compute instance that is smaller than its GPU instance."""
    profile = profile_of(gpu, gpu_instance)
    whole = compute_instance.size == profile.slices
    return profile.name if whole else f"{compute_instance.size}c.{profile.name}"
