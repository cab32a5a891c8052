"""What a pod has of GPUs without a limit of NVIDIA's: claims, a share that KAI gives, devices of another maker.

Sources: KAI-Scheduler docs/gpu-sharing (its annotations count where it places the pod, on a GPU that a pod of its own
reserves); the device plugins of AMD, Intel, Habana and AWS, and of Google's TPUs.
"""

from collections.abc import Iterator
from typing import Final

from lockgate.model.objects import Pod

_SHARES: Final = ("gpu-fraction", "gpu-memory")
_NOT_KAI: Final = ("", "default-scheduler")
_MAKERS: Final = ("amd.com/gpu", "gpu.intel.com/", "habana.ai/gaudi", "aws.amazon.com/neuron", "google.com/tpu")


def other_gpus(pod: Pod) -> str:
    """It in words that follow "with"; "" where it has nothing such."""
    return next(_ways(pod), "")


def _ways(pod: Pod) -> Iterator[str]:
    if claimed := ", ".join(claim.name for claim in pod.spec.resource_claims):
        yield f"its claims ({claimed})"
    if pod.spec.scheduler_name not in _NOT_KAI:
        asked = ((key, pod.metadata.annotations.get(key, "")) for key in _SHARES)
        yield from (
            f"a share of a GPU from {pod.spec.scheduler_name} ({key}: {value})" for key, value in asked if value
        )
    every = (*pod.spec.init_containers, *pod.spec.containers)
    limits = ((name, amount) for c in every for name, amount in c.resources.limits.items())
    yield from (f"its {name}, which is not NVIDIA's" for name, amount in limits if name.startswith(_MAKERS) and amount)
