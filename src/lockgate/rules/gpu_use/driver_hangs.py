"""Programs hang in the driver.

The kernel found programs that have waited in the driver for minutes (state D): `nvidia-smi`, the device plugin, or a
CUDA program. Not even `kill -9` ends them.

Why it matters: nothing says so but silence: pods stay in ContainerCreating or Terminating, probes time out.
How to tell: `blocked for more than 120 seconds` in the kernel's log; `ps` shows state D. Often XID 119 or 79 stands
before.
Fix: drain the node and reboot it: nothing else frees a process in state D.
"""

import re

from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Node

# kernel/hung_task.c; of other programs it does not say that the driver is what they wait for.
_TEXT = re.compile(
    r"task (?P<name>[^\s:]*(?:nvidia|nvc|nv_|dcgm|cuda|UVM)[^\s:]*):(?P<pid>\d+) blocked for more than \d+ seconds"
)


@rule(codes=("J15",), severity=Severity.ERROR, stages=(Stage.NODE,), mutes=("devices/unhealthy",))
def driver_hangs(node: Node, node_words: NodeWords) -> Failed | None:
    line = node_words.find_in_kernel(node.name, _TEXT)
    if line is None:
        return None
    return Failed(
        about=f"node/{node.name}",
        summary=f"On {node.name} {line.match['name']} (pid {line.match['pid']}) hangs in the driver, and stays so.",
        evidence=(line.evidence,),
        remedy=(
            Remedy(f"On {node.name}, see who else hangs", "ps -eo pid,stat,wchan:30,comm | awk '$2 ~ /D/'", Risk.NONE),
            drain(node.name),
        ),
    )
