"""What the answers about MIG share: which instances a call is about, and that a change is an event."""

from lockgate.lab.answers.registry import Call, Target
from lockgate.lab.codes import Event, NvmlError, Return
from lockgate.lab.machine import GpuEvent
from lockgate.lab.state import ComputeInstance, Gpu, GpuInstance
from lockgate.mig.products import Profile


def change(call: Call, gpu: Gpu) -> None:
    """Let this be the GPU, and tell whoever listens for changes of its partition."""
    call.machine.change_gpu(gpu)
    call.machine.publish(GpuEvent(gpu.minor, Event.MIG_CONFIG_CHANGE, 0))


def mig_instances(target: Target) -> tuple[GpuInstance, ComputeInstance]:
    """The instances of a MIG device; INVALID_ARGUMENT for a whole GPU."""
    if target.gpu_instance is None or target.compute_instance is None:
        raise NvmlError(Return.INVALID_ARGUMENT)
    return target.gpu_instance, target.compute_instance


def gpu_instance_of(target: Target) -> GpuInstance:
    """The GPU instance of an `I` argument, which always has one."""
    assert target.gpu_instance is not None
    return target.gpu_instance


def multiprocessors(profile: Profile, slices: int) -> int:
    """The SMs of a compute instance of that size."""
    return profile.multiprocessors * slices // profile.slices
