"""DCGM finds no driver in its container.

DCGM or its exporter runs without NVIDIA's runtime, so NVML is not there.

Why it matters: metrics are missing; GPU pods are not touched.
How to tell: `Failed to initialize NVML` or `DCGM initialization error` in its log, while other operands are ready.
Fix: give it the node's NVIDIA runtime (`runtimeClassName: nvidia`), or on managed clusters the driver's files as the
provider describes; on nodes without GPUs keep it away with a selector.
"""

import re

from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs, with_more
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Evidence, Severity

# gpu-monitoring-tools#96, dcgm-exporter#59.
_TEXTS = (
    re.compile(r"Error starting nv-hostengine: DCGM initialization error"),
    re.compile(r"Failed to initialize NVML(?!: (?:Driver/library|Unknown Error|Insufficient))"),  # those have rules
)


@rule(
    codes=("I16",),
    severity=Severity.WARNING,
    stages=STAGES,
    asks_gpu=None,
    mutes=("operator/policy-not-ready",),
)
def dcgm_without_driver(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        _find,
        lambda on, told: "DCGM finds no driver in its container, so there are no metrics of this node.",
        lambda on, told: read_logs(told),
    )


def _find(on: NodeStack) -> Told | None:
    told = on.said(*_TEXTS, of=("dcgm-exporter", "dcgm"))
    if told is None or told.pod is None:
        return None
    name = told.pod.spec.runtime_class_name or "none"
    return with_more(
        told, Evidence(object=f"pod/{told.pod.namespace}/{told.pod.name}", field="spec.runtimeClassName", value=name)
    )
