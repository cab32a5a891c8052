"""The pod's GPU comes as a CDI device, and the node's containerd is told not to inject any.

The device plugin, or the pod itself, names CDI devices. containerd 2 refuses a container with such names while its
configuration says `enable_cdi = false`.

Why it matters: no container that is given a GPU by its CDI name starts on this node.
How to tell: `CDI devices (...) requested but CDI support is explicitly disabled`.
Fix: take `enable_cdi = false` out of the runtime's configuration (from containerd 2.0 on CDI is on by default), or let
the device plugin hand out device nodes instead of CDI names.
"""

import re

from lockgate.containerd.effective import Effective
from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_two import GateTwo, NodeGate
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

# internal/cri/server/container_create_linux.go (containerd 2.3.7).
_TEXT = re.compile(r"CDI devices \((?P<names>.*?)\) requested but CDI support is explicitly disabled")


@rule(
    codes=("E12",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.FAILED),
    asks_gpu=None,
    mutes=(*BROKEN_NODE, "pod/no-gpu-asked"),
    runtime="containerd",
)
def cdi_off(pod: Pod, words: Words, gate_two: GateTwo) -> Failed | None:
    said = words.find_outside_logs(_TEXT)
    if said is None:
        return None
    node, wanted = pod.spec.node_name, said.match["names"].strip("[]")
    return Failed(
        about=f"node/{node}",
        summary=f"containerd on {node} is told to inject no CDI devices, and the pod is given {wanted}.",
        evidence=(said.evidence, *_switch(gate_two.on(node))),
        remedy=(
            Remedy(
                f"On {node}, see where CDI is switched off; set enable_cdi = true there and restart containerd",
                "sudo grep -rn enable_cdi /etc/containerd; containerd config dump | grep enable_cdi",
                Risk.NONE,
            ),
            Remedy(
                "Or see how the device plugin hands out devices; envvar needs no CDI",
                "kubectl get clusterpolicy -o jsonpath='{.items[*].spec.cdi}'",
                Risk.NONE,
            ),
        ),
    )


def _switch(gate: NodeGate) -> tuple[Evidence, ...]:
    """The line of the node's files that switches it off."""
    effective = gate.effective
    if not isinstance(effective, Effective) or gate.release is None:
        return ()
    leaf = effective.leaf("plugins", gate.release.family.cri.runtime, "enable_cdi")
    if leaf is None or leaf.value is not False or leaf.origin.is_built_in:
        return ()
    return (gate.quote(leaf.origin, field="enable_cdi", value="false"),)
