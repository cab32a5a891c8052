"""A pod to ask about, made from a few numbers instead of a file."""

from collections.abc import Iterable

import msgspec

from lockgate.kit.quantity import whole
from lockgate.mig.profile_name import parse_profile_name
from lockgate.model import names
from lockgate.model.objects import (
    Affinity,
    Container,
    LabelRequirement,
    Metadata,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    Pod,
    PodSpec,
    ResourceRequirements,
    Toleration,
)

_MIB = 1 << 20


def asking(namespace: str, *, gpus: int = 0, mig: str = "", memory: str = "") -> Pod:
    """A pod for so many GPUs, or for one MIG device; `memory` is what each GPU must have at least.

    It tolerates taints of the key nvidia.com/gpu, as pods that may use GPU nodes do. Memory is asked as a person would
    write it: a required node affinity on GFD's labels, its size in MiB and no sharing, since slots that share a GPU
    have none of its memory for certain. Raises ValueError for a profile or a size that is none.
    """
    resource = f"{names.MIG_PREFIX}{parse_profile_name(mig).resource_suffix}" if mig else names.GPU
    asked = {resource: 1 if mig else gpus}
    container = Container(name="ask", resources=ResourceRequirements(requests=dict(asked), limits=dict(asked)))
    spec = PodSpec(
        containers=(container,),
        tolerations=(Toleration(key=names.GPU, operator="Exists"),),
        affinity=_memory(memory) if memory else None,
    )
    return Pod(metadata=Metadata(name="ask", namespace=namespace), spec=spec)


def tolerating(pod: Pod, keys: Iterable[str]) -> Pod:
    """The pod with a toleration of every taint of these keys."""
    added = tuple(Toleration(key=key, operator="Exists") for key in keys)
    spec = msgspec.structs.replace(pod.spec, tolerations=(*pod.spec.tolerations, *added))
    return msgspec.structs.replace(pod, spec=spec)


def _memory(size: str) -> Affinity:
    least = -(-whole(size) // _MIB)
    if whole(size) < _MIB:
        raise ValueError(f'"{size}" is {whole(size)} bytes, no memory of a GPU (expected for example 40Gi)')
    enough = LabelRequirement(key=names.GPU_MEMORY, operator="Gt", values=(str(least - 1),))
    alone = LabelRequirement(key=names.SHARING_STRATEGY, operator="NotIn", values=("time-slicing", "mps"))
    term = NodeSelectorTerm(match_expressions=(enough, alone))
    return Affinity(node_affinity=NodeAffinity(required=NodeSelector(node_selector_terms=(term,))))
