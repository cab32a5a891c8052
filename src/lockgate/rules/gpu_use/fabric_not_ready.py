"""CUDA finds the system not yet initialized: the NVSwitch fabric is not set up (error 802).

On machines with NVSwitch (HGX, DGX) CUDA works only after the fabric manager has set up the fabric. It does not run, or
its version is not that of the driver, or it did not recognise the machine.

Why it matters: `nvidia-smi` looks well, and every CUDA program on every GPU of the node fails.
How to tell: `nvidia-smi -q` shows `Fabric: State: In Progress`; see /var/log/fabricmanager.log.
Fix: install the fabric manager of exactly the driver's version, and start it before the pods.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

# cudaErrorSystemNotReady, strings of libcudart 12.
_TEXT = re.compile(r"system not yet initialized|cudaErrorSystemNotReady|CUDA_ERROR_SYSTEM_NOT_READY")
_STATE = re.compile(r"^\s*Fabric\s*\n\s*State\s*:\s*(?P<state>.+)$", re.MULTILINE)
# nv-fabricmanager 595; the topology's text is that of gpud's matchers.
_MANAGER = re.compile(
    r"don't match with (?:driver version|any supported system topology)"
    r"|No NVSwitches detected, aborting|[Ff]abric ?[Mm]anager.*(?:fail|error|mismatch|abort)"
)


@rule(codes=("J06",), severity=Severity.BLOCKER, stages=(Stage.RUNNING, Stage.FAILED))
def fabric_not_ready(pod: Pod, words: Words, node_words: NodeWords) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    node = pod.spec.node_name
    state = _STATE.search(node_words.output(node, "nvidia-smi-q"))
    manager = node_words.find_in_fabric_manager(node, _MANAGER)
    shown = f" (state {state['state'].strip()})" if state else ""
    return Failed(
        about=f"node/{node}",
        summary=f"The NVSwitch fabric of {node} is not set up{shown}: see its fabric manager.",
        evidence=some(
            said.evidence,
            Evidence(file=f"{node}:nvidia-smi-q", field="Fabric State", value=state["state"].strip())
            if state
            else None,
            manager.evidence if manager else None,
        ),
        remedy=(
            Remedy(
                f"On {node}, see whether the fabric manager runs, and in the driver's version",
                "systemctl status nvidia-fabricmanager; nv-fabricmanager --version; cat /proc/driver/nvidia/version",
                Risk.NONE,
            ),
        ),
    )
