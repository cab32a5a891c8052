"""The vGPU of a node has no licence.

A virtual GPU works at full speed only while its guest driver holds a licence. Without one it is slowed down after
some minutes, and CUDA is refused in the end.

Why it matters: GPU pods run, slowly or not at all, and nothing in Kubernetes tells why.
How to tell: `nvidia-smi -q` shows `License Status: Unlicensed`.
Fix: give the driver its client token (`driver.licensingConfig.secretName`), and see that the node reaches the licence
server. nvidia-gridd writes into the system's log why it gets none.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.stacks import Stacks
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Node

# nvidia-smi 535.261 and 580.178: the field is there for virtual GPUs alone.
_STATUS = re.compile(r"License Status\s*:\s*Unlicensed(?: \((?P<how>\w+)\))?")


@rule(codes=("H18",), severity=Severity.WARNING, stages=(Stage.NODE,), asks_gpu=None)
def unlicensed(node: Node, stacks: Stacks) -> Failed | None:
    told = stacks.on(node.name).printed(("nvidia-smi-q",), _STATUS)
    if told is None:
        return None
    return Failed(
        about=f"node/{node.name}",
        summary=f"{node.name}: its virtual GPU has no licence, so it is slowed down.",
        evidence=(told.evidence,),
        remedy=(
            Remedy(f"On {node.name}, see what the licence client says", "journalctl -t nvidia-gridd -n 20", Risk.NONE),
            Remedy(
                "See whether the driver has a client token",
                "kubectl get clusterpolicy -o jsonpath='{.items[*].spec.driver.licensingConfig}'",
                Risk.NONE,
            ),
        ),
    )
