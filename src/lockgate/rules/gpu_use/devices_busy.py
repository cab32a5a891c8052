"""CUDA finds its devices busy or unavailable (error 46).

The GPU is in MIG mode without an instance that can compute, or its compute mode admits one process only, or it is
shared by MPS and the program is no client of the MPS daemon.

Why it matters: the pod holds a GPU that no program of it can open.
How to tell: `nvidia-smi -q` shows `Compute Mode: Exclusive_Process` or `MIG Mode: Current: Enabled`; for MPS see the
label `nvidia.com/gpu.sharing-strategy`.
Fix: make the MIG instances (or turn MIG off), set the compute mode to default, or let the pod reach the MPS daemon.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.own_node import label, labels_of
from lockgate.diagnosis.views.words import Words
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod

# cudaErrorDevicesUnavailable; the second form is libcudart 12.9, the first that of older ones.
_TEXT = re.compile(
    r"all CUDA-capable devices are busy or unavailable|CUDA-capable device\(s\) is/are busy or unavailable"
    r"|cudaErrorDevicesUnavailable|CUDA_ERROR_DEVICE_UNAVAILABLE"
)
_MODE = re.compile(r"Compute Mode\s*:\s*(?P<mode>Exclusive_\w+|Prohibited)")
_LABELS = (
    ("nvidia.com/gpu.sharing-strategy", "mps", "the GPU is shared by MPS, and the program is no client of its daemon"),
    ("nvidia.com/mig.config.state", "pending", "its MIG instances are being changed"),
    ("nvidia.com/mig.config.state", "failed", "its MIG instances could not be made"),
)


@rule(codes=("J08",), severity=Severity.ERROR, stages=(Stage.RUNNING, Stage.FAILED))
def devices_busy(pod: Pod, words: Words, node_words: NodeWords, own_node: Node | Missing) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    node = pod.spec.node_name
    mode = _mode(node, node_words)
    why = f"compute mode is {mode.value}" if mode else ""
    told_by = _told_by(own_node)
    told = why or (told_by.note if told_by else "MIG without an instance, an exclusive compute mode, or MPS")
    return Failed(
        about=f"node/{node}",
        summary=f"A GPU of {node} cannot be opened by the program: {told}.",
        evidence=some(said.evidence, mode, told_by),
        remedy=(
            Remedy(
                f"On {node}, see the modes of the GPUs",
                "nvidia-smi -q | grep -E 'Compute Mode|MIG Mode|Current'; nvidia-smi mig -lgi",
                Risk.NONE,
            ),
        ),
    )


def _mode(node: str, words: NodeWords) -> Evidence | None:
    found = _MODE.search(words.output(node, "nvidia-smi-q"))
    return Evidence(file=f"{node}:nvidia-smi-q", field="Compute Mode", value=found["mode"]) if found else None


def _told_by(node: Node | Missing) -> Evidence | None:
    found = (label(node, key, story) for key, value, story in _LABELS if labels_of(node).get(key) == value)
    return next(found, None)
