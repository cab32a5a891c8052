"""Something takes the GPUs away from operands' pods.

The pod differs from its DaemonSet's template in `NVIDIA_VISIBLE_DEVICES`: an admission webhook, made to keep users from
GPUs that they did not ask for, also rewrites the operator's own pods.

Why it matters: the operand sees no GPU and fails, while its DaemonSet looks right.
How to tell: compare the variable in the pod and in the DaemonSet.
Fix: leave the operator's namespace out of that webhook (its namespaceSelector), then let the pods be made anew.
"""

import re

from lockgate.diagnosis.followers import AFTER_PLUGIN
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, restart
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import DaemonSet, Pod, PodSpec

# gpu-operator#322.
_VARIABLE = "NVIDIA_VISIBLE_DEVICES"
_NONE = re.compile(r"^(?:void|none|)$")


@rule(codes=("I19",), severity=Severity.ERROR, stages=STAGES, asks_gpu=None, mutes=AFTER_PLUGIN)
def gpus_hidden(ailing: Ailing, operands: Operands) -> Outcome:
    return blame(
        ailing,
        lambda on: on.found(_find, operands),
        lambda on, told: (
            f"{told.pod.name if told.pod else 'a pod'} has {_VARIABLE}={told.evidence.value}, "
            "its DaemonSet says otherwise: something rewrites the operator's pods."
        ),
        _remedies,
    )


def _find(on: NodeStack, operands: Operands) -> Told | None:
    for sick in on.sick:
        owner = operands.maker_of(sick.pod)
        found = _hidden(sick.pod, owner) if owner else None
        if found is not None:
            return found
    return None


def _hidden(pod: Pod, owner: DaemonSet) -> Told | None:
    meant, has = _values(owner.spec.template.spec), _values(pod.spec)
    for container, value in has.items():
        match = _NONE.match(value)
        if match and meant.get(container) != value:
            seen = Evidence(
                object=f"pod/{pod.namespace}/{pod.name}",
                field=f"spec.containers[{container}].env[{_VARIABLE}]",
                value=value or '""',
                note=f"daemonset/{owner.namespace}/{owner.name} says {meant.get(container, 'nothing of it')}",
            )
            return Told(match, seen, pod)
    return None


def _values(spec: PodSpec) -> dict[str, str]:
    every = (*spec.init_containers, *spec.containers)
    return {c.name: e.value for c in every for e in c.env if e.name == _VARIABLE}


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(
            "See which webhooks rewrite pods, and leave the operator's namespace out of theirs",
            "kubectl get mutatingwebhookconfigurations",
            Risk.NONE,
        ),
        *restart(told),
    )
