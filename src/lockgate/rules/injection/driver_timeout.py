"""The driver does not answer: it hangs.

NVIDIA's hook asked the driver for its GPUs and got no answer in time. Usually one GPU of the node hangs (its
firmware, the bus), and every client of the driver waits for it.

Why it matters: no container with a GPU can be made on this node, not even for the GPUs that are well.
How to tell: the kernel's log has an Xid (79, 119, 120) or a blocked task; `nvidia-smi` hangs on the node as well.
Fix: reset the GPU or reboot the node. Drain it first: pods that already compute on the other GPUs may still work.
"""

import re

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod

_TEXT = re.compile(r"driver rpc error: timed out")
_TROUBLE = re.compile(r"NVRM: Xid|task \S+:\d+ blocked for more than \d+ seconds|RmInitAdapter failed")


@rule(
    codes=("E16", "I18"),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.FAILED),
    asks_gpu=None,
    mutes=BROKEN_NODE,
)
def driver_timeout(pod: Pod, words: Words, node_words: NodeWords) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    node = pod.spec.node_name
    kernel = node_words.find_in_kernel(node, _TROUBLE)
    why = "; its kernel's log tells of trouble" if kernel else ""
    return Failed(
        about=f"node/{node}",
        summary=f"The driver on {node} did not answer in time{why}.",
        evidence=some(said.evidence, kernel.evidence if kernel else None),
        remedy=(
            Remedy(
                f"On {node}, see what the kernel says", "dmesg -T | grep -iE 'NVRM|Xid|blocked for more'", Risk.NONE
            ),
            drain(node),
        ),
    )
