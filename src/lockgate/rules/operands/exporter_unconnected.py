"""The exporter does not reach DCGM.

With DCGM in a pod of its own (`dcgm.enabled`) the exporter asks the one on its node, at `nvidia-dcgm:5555`.

Why it matters: metrics are missing; GPU pods are not touched.
How to tell: `Error connecting to nv-hostengine` in the exporter's log, after it says which host it tries.
Fix: see the node's nvidia-dcgm pod; a NetworkPolicy or firewall may forbid port 5555; or let the exporter bring its own
DCGM (`dcgm.enabled: false`).
"""

import re

from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs, with_more
from lockgate.diagnosis.stage import is_ready
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# NVIDIA's troubleshooting page; gpu-operator#414, dcgm-exporter#61.
_FAILED = (
    re.compile(r"Error connecting to nv-hostengine"),
    re.compile(r"[Hh]ost engine connection (?:invalid|disconnected)"),
)
_TRIED = re.compile(r"Attempting to connect to remote hostengine at (?P<host>[\w.:-]+)")


@rule(
    codes=("I15",),
    severity=Severity.WARNING,
    stages=STAGES,
    asks_gpu=None,
    mutes=("operator/policy-not-ready",),
)
def exporter_unconnected(ailing: Ailing) -> Outcome:
    return blame(ailing, _find, lambda on, told: f"the exporter reaches no DCGM; {_other(on)}.", _remedies)


def _find(on: NodeStack) -> Told | None:
    failed, tried = on.said(*_FAILED, of=("dcgm-exporter",)), on.said(_TRIED, of=("dcgm-exporter",))
    return with_more(failed, tried) or tried


def _other(on: NodeStack) -> str:
    dcgm = on.pod_of("dcgm")
    if dcgm is None:
        return "no nvidia-dcgm pod is on the node"
    return f"{dcgm.name} is {'ready' if is_ready(dcgm) else 'not ready'}"


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    space = told.pod.namespace if told.pod else "gpu-operator"
    return (
        Remedy(
            "See DCGM's pods and what may forbid port 5555",
            f"kubectl get pods,service,networkpolicies -n {space} -o wide",
            Risk.NONE,
        ),
        *read_logs(told),
    )
