"""The runtime may not give the container its devices: the kernel refuses the cgroup's device rules.

NVIDIA's hook adds device rules to the container's cgroup with a BPF program. Where the node is itself a container (LXC,
kind, rootless), the kernel forbids that; with a hardened BPF compiler old releases of the hook fail as well.

Why it matters: no container gets a GPU by the hook on such a node.
How to tell: `operation not permitted` is the nested node, `invalid argument` the hardened compiler
(`net.core.bpf_jit_harden`) with a libnvidia-container before 1.8.
Fix: inject by CDI, which needs no such rules from the hook; else update the toolkit, or set `no-cgroups = true` in
its configuration where the node is a container.
"""

import re

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.words import Words
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod

_TEXT = re.compile(
    r"mount error: failed to add device rules: (?P<why>.+)"
    r"|unable to find any existing device filters attached to the cgroup: (?P<query>.+)"
)
_NESTED = "the node is itself a container, or has no right to load BPF programs"
_HARDENED = "the kernel's hardened BPF compiler refuses the program of an old libnvidia-container"


@rule(
    codes=("E18",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.FAILED),
    asks_gpu=None,
    mutes=BROKEN_NODE,
)
def device_cgroup_refused(pod: Pod, words: Words) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    why = said.match["why"] or said.match["query"]
    story = _NESTED if "not permitted" in why else _HARDENED if "invalid argument" in why else "the kernel refused it"
    return Failed(
        about=f"node/{pod.spec.node_name}",
        summary=f"The device rules of a container on {pod.spec.node_name} were refused: {story}.",
        evidence=(said.evidence,),
        remedy=(
            Remedy(
                "Let CDI inject the devices: drop runtimeClassName, and let the plugin hand out CDI names",
                "kubectl get clusterpolicy -o jsonpath='{.items[*].spec.cdi}'",
                Risk.NONE,
            ),
            Remedy(f"Or update the toolkit on {pod.spec.node_name}", "nvidia-container-cli --version", Risk.NONE),
        ),
    )
