"""The driver's device nodes are not in the driver root.

The runtime is told to take device nodes from the driver root (`/run/nvidia/driver/dev`), and they are not there: the
driver container is gone or not ready, or the driver is on the host and the root should be `/`.

Why it matters: no container gets a GPU on this node.
How to tell: the runtime's words name a path below `/run/nvidia/driver`. Where `nvidia-smi` works on the host itself,
the root is wrong; where it does not, the driver container has not brought the driver yet.
Fix: wait for the driver container, or let the toolkit use the host's root where the driver is installed on the host
(`driver.enabled: false`).
"""

import re

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.remedies import restart_toolkit
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.words import Words
from lockgate.diagnosis.ways import log_command
from lockgate.model import names
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod

_TEXT = re.compile(r"l?stat (?P<root>/\S*?)/dev/nvidia[\w-]+: no such file or directory")


@rule(
    codes=("E15",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.FAILED),
    asks_gpu=None,
    mutes=BROKEN_NODE,
)
def driver_root_missing(pod: Pod, words: Words, operands: Operands) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    node, root = pod.spec.node_name, said.match["root"]
    driver = operands.pod_on(node, "driver")
    whose = f"driver container {driver.name} runs there" if driver else "no driver container is known there"
    return Failed(
        about=f"node/{node}",
        summary=f"The driver root {root} of {node} has no device nodes; {whose}.",
        evidence=(said.evidence,),
        remedy=(
            _mend(node, driver, root),
            Remedy(f"On {node}, see where the device nodes are", f"ls -l /dev/nvidia* {root}/dev", Risk.NONE),
        ),
    )


def _mend(node: str, driver: Pod | None, root: str) -> Remedy:
    if driver is None and root == names.DRIVER_ROOT:
        text = f"Restart the toolkit of {node}: it looks for the driver anew, on the host as well"
        return restart_toolkit(node, text, Risk.MEDIUM)
    if driver is None:
        return Remedy(f"Correct the driver root {root} in the runtime's configuration", "", Risk.MEDIUM)
    command = log_command(driver.namespace, driver.name)
    return Remedy("See whether the driver container has loaded the driver", command, Risk.NONE)
