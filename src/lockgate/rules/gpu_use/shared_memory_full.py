"""The pod shares a GPU, and the GPU's memory is full.

Time-slicing hands the same GPU out several times; its memory is not divided. A slot guarantees 0 bytes: who comes last
gets what the others left.

Why it matters: the pod "has" a GPU and runs out of memory with a program that fits the GPU alone.
How to tell: the label `nvidia.com/gpu.replicas` is above 1, or the resource is `.shared`; other pods are on the node.
Fix: limit each program's share (for PyTorch `set_per_process_memory_fraction`), use fewer replicas, or MIG or MPS with
memory limits, which do divide it.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import listed, pod_ref, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.diagnosis.views.own_node import label, labels_of
from lockgate.diagnosis.views.words import Words
from lockgate.model import names
from lockgate.model.facts import Missing, Pods
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.node_fit import is_terminal

_TEXT = re.compile(r"CUDA out of memory|CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation")


@rule(codes=("J13",), severity=Severity.ERROR, stages=(Stage.RUNNING, Stage.FAILED))
def shared_memory_full(
    pod: Pod, words: Words, own_node: Node | Missing, pods: Pods | Missing, namespace_pods: Pods | Missing
) -> Failed | None:
    said, shared = words.find(_TEXT), _shared(pod, own_node)
    if said is None or shared is None:
        return None
    near = namespace_pods if isinstance(pods, Missing) else pods
    others = _others(pod, () if isinstance(near, Missing) else near)
    beside = f", beside {listed(others)}" if others else ""
    return Failed(
        about=pod_ref(pod),
        summary=f"It has a slot of a shared GPU on {pod.spec.node_name}{beside}; a slot guarantees no memory.",
        evidence=some(said.evidence, shared, _there(pod.spec.node_name, others)),
        remedy=(
            Remedy(
                f"On {pod.spec.node_name}, see who uses the memory",
                "nvidia-smi --query-compute-apps=pid,used_memory --format=csv",
                Risk.NONE,
            ),
            Remedy("Limit what the program takes, or ask for a MIG device, whose memory is its own", "", Risk.LOW),
        ),
    )


def _shared(pod: Pod, node: Node | Missing) -> Evidence | None:
    """What says that the GPU is shared: the resource's name, or the node's labels."""
    resource = gpu_asked(pod)
    if resource.endswith(".shared"):
        return Evidence(object=pod_ref(pod), field="resources.limits", value=resource)
    replicas = labels_of(node).get(names.GPU_REPLICAS, "1")
    return label(node, names.GPU_REPLICAS) if replicas.isdecimal() and int(replicas) > 1 else None


def _others(pod: Pod, pods: Pods) -> list[str]:
    here = (p for p in pods if p.spec.node_name == pod.spec.node_name and not is_terminal(p) and gpu_asked(p))
    return sorted(f"{p.namespace}/{p.name}" for p in here if (p.namespace, p.name) != (pod.namespace, pod.name))


def _there(node: str, others: list[str]) -> Evidence | None:
    return Evidence(object=f"node/{node}", field="pods with slots", value=listed(others, 6)) if others else None
