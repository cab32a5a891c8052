"""NVIDIA's runtime program is not on the node.

A runtime handler of the node, or a hook of its runtime, starts a program that is gone: the toolkit was removed and its
handler stayed, or its path has changed.

Why it matters: every pod of that handler fails on the node; if it is the default handler, that is every pod there.
How to tell: `fork/exec .../nvidia-container-runtime: no such file or directory`, or `executable file not found`.
Fix: let the toolkit install the program again, or take the handler that names it out of the runtime's configuration.
"""

import re
from collections.abc import Iterator

from lockgate.containerd.effective import Effective
from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.remedies import see_toolkit
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_two import GateTwo, NodeGate
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod
from lockgate.model.pod_state import is_ready, trouble

# os/exec's words, which shim and runc pass on (gpu-operator#575, k8s-device-plugin#166). Events quote quotes.
_PROGRAM = r"nvidia-container-(?:runtime|toolkit)[\w.-]*"
_TEXTS = (
    re.compile(rf"fork/exec (?P<program>\S*?{_PROGRAM}): no such file or directory"),
    re.compile(rf'exec: \\?"(?P<program>[^"\\]*?{_PROGRAM})\\?": (?:executable file not found|stat .*no such file)'),
)


@rule(
    codes=("E10",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.FAILED),
    asks_gpu=None,
    mutes=(*BROKEN_NODE, "pod/no-gpu-asked"),
)
def binary_missing(pod: Pod, words: Words, gate_two: GateTwo, operands: Operands) -> Failed | None:
    said = words.find_outside_logs(*_TEXTS)
    if said is None:
        return None
    node, program = pod.spec.node_name, said.match["program"]
    toolkit = operands.pod_on(node, "container-toolkit")
    return Failed(
        about=f"node/{node}",
        summary=f"The runtime on {node} starts {program}, and there is no such program; {_toolkit(toolkit)}.",
        evidence=(said.evidence, *_handlers(gate_two.on(node), program), *_state(toolkit)),
        remedy=(
            see_toolkit(node, f"See whether the toolkit runs on {node}: it installs the program and names its path"),
            Remedy(
                f"On {node}, see which programs are there, and which handler names this one",
                "ls -l /usr/local/nvidia/toolkit /usr/bin/nvidia-*; "
                "sudo grep -rns nvidia-container-runtime /etc/containerd /etc/crio /etc/docker",
                Risk.NONE,
            ),
        ),
    )


def _toolkit(pod: Pod | None) -> str:
    if pod is None:
        return "no toolkit pod is known there, so one was removed or the host brings it"
    return f"toolkit pod {pod.name} is {'ready' if is_ready(pod) else 'not ready'}"


def _handlers(gate: NodeGate, program: str) -> Iterator[Evidence]:
    """The handlers of the node's files that name the program."""
    effective = gate.effective
    for handler in effective.handlers.values() if isinstance(effective, Effective) else ():
        if handler.binary_name and handler.binary_name == program:
            yield gate.quote(handler.origin, field=handler.name, value=program)


def _state(toolkit: Pod | None) -> tuple[Evidence, ...]:
    if toolkit is None:
        return ()
    value = "Ready" if is_ready(toolkit) else trouble(toolkit)
    return (Evidence(object=pod_ref(toolkit), field="status", value=value),)
