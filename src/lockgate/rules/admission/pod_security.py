"""Pod Security refuses the pods: their namespace enforces a level that they do not meet.

Operands mount host paths and run privileged, which the levels `baseline` and `restricted` forbid. The DaemonSet then
has DESIRED n and CURRENT 0, and only its events say why.

Why it matters: no pod exists, so no pod can be described; an operator whose namespace was labelled later stops in the
middle of a rollout.
How to tell: the event says `violates PodSecurity`; the namespace's label `pod-security.kubernetes.io/enforce` holds
the level.
Fix: label the operator's namespace `pod-security.kubernetes.io/enforce=privileged`. A GPU workload needs no privilege:
take hostPath, hostPID and privileged out of it instead.
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.standing import place, standing
from lockgate.diagnosis.views.creation import Creation
from lockgate.model.facts import Missing, Namespaces
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import DaemonSet

# pod-security-admission/admission/admission.go; below 1.25 PodSecurityPolicy had two wordings.
_LEVEL = re.compile(r'violates PodSecurity "(?P<level>[^"]+)": (?P<why>.+)', re.DOTALL)
_POLICY = re.compile(
    r"(?:PodSecurityPolicy: unable to admit pod|unable to validate against any pod security policy): (?P<why>.+)",
    re.DOTALL,
)
_ENFORCE = "pod-security.kubernetes.io/enforce"


@rule(
    codes=("A07",),
    severity=Severity.BLOCKER,
    stages=(Stage.NO_POD, Stage.OPERAND),
    asks_gpu=None,
    mutes=("operands/plugin-gone", "operands/init-waits", "operands/left-out", "operator/policy-not-ready"),
)
def pod_security(creation: Creation, namespaces: Namespaces | Missing) -> Failed | None:
    said = creation.find(_LEVEL, _POLICY)
    if said is None:
        return None
    level = said.match.groupdict().get("level")
    enforces = f'namespace {creation.namespace} enforces "{level}"' if level else "no PodSecurityPolicy admits them"
    return Failed(
        about=place(creation.maker),
        summary=f"{standing(creation.maker)}: {enforces}, and they need {said.match['why']}.",
        evidence=(said.evidence, *_label(creation.namespace, namespaces)),
        remedy=_remedy(creation),
    )


def _label(namespace: str, namespaces: Namespaces | Missing) -> tuple[Evidence, ...]:
    known = () if isinstance(namespaces, Missing) else namespaces
    return tuple(
        Evidence(
            object=f"namespace/{namespace}",
            field=f"metadata.labels[{_ENFORCE}]",
            value=each.metadata.labels.get(_ENFORCE, "absent"),
        )
        for each in known
        if each.name == namespace
    )


def _remedy(creation: Creation) -> tuple[Remedy, ...]:
    allow = Remedy(
        "Allow privileged pods in the namespace, if it is the operator's own",
        f"kubectl label namespace {creation.namespace} --overwrite {_ENFORCE}=privileged",
        Risk.MEDIUM,
    )
    reduce = Remedy("Take what is named out of the pod template: a pod needs no privilege to get a GPU", "", Risk.LOW)
    return (allow,) if isinstance(creation.maker, DaemonSet) else (reduce, allow)
