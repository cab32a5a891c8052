"""A scheduling gate holds the pod back.

The scheduler does not look at a gated pod at all; whoever set the gate has to remove it.

Why it matters: no event and no reason about GPUs is ever written for it, however free the GPUs are.
How to tell: `spec.schedulingGates` is not empty, and the condition PodScheduled says SchedulingGated.
Fix: ask the controller that owns the gate (a queue such as Kueue), or remove the gate if nobody does.
"""

from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import listed, pod_ref, scheduler_text, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.model.facts import Events, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

_OWNERS = {"kueue.x-k8s.io": "Kueue (its queue has not admitted the workload)"}


@rule(
    codes=("A14",),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING,),
    gpu=False,
    asks_gpu=None,
    mutes=(
        "scheduling/all-held",
        "scheduling/fragmented",
        "scheduling/cordoned",
        "scheduling/selector",
        "scheduling/untolerated-taint",
        "scheduling/other-resource",
        "scheduling/placement",
        "scheduling/wrong-name",
        "discovery/no-gpu-node",
        "autoscaling/node-not-initialized",
    ),
)
def gated(pod: Pod, pod_events: Events | Missing) -> Failed | Passed | None:
    gates = [gate.name for gate in pod.spec.scheduling_gates]
    if not gates:
        # A gated pod is never looked at; its spec alone may be a description that does not show gates.
        word, _ = scheduler_text(pod, () if isinstance(pod_events, Missing) else pod_events)
        return Passed("the scheduler has looked at it, so no gate holds it") if word else None
    owner = next((who for prefix, who in _OWNERS.items() if any(g.startswith(prefix) for g in gates)), "whoever set it")
    return Failed(
        about=pod_ref(pod),
        summary=f"{listed(gates)} is set, so the scheduler does not look at it; {owner} has to remove it.",
        evidence=(
            *(Evidence(object=pod_ref(pod), field="spec.schedulingGates", value=gate) for gate in gates),
            *some(scheduler_word(pod)),
        ),
        remedy=(
            Remedy(
                "Ask the owner of the gate; see who set it",
                f"kubectl get pod -n {pod.namespace} {pod.name} -o yaml",
                Risk.NONE,
            ),
        ),
    )
