"""Which operands wait for the container toolkit when a policy is new.

A pod that names a RuntimeClass whose handler containerd has not loaded fails, and the kubelet tries again after ten
seconds or more. So on a fresh install the others are created once the toolkit is ready on a first node: the nodes are
ready twelve seconds earlier. It never holds anything back for long, and nothing that exists already.
"""

import datetime as dt
from typing import Final

from lockgate.model.objects import Condition, DaemonSet
from lockgate.model.policy import PolicySpec
from lockgate.operands.operand import Operand

PATIENCE: Final = dt.timedelta(seconds=60)


def waits(
    operand: Operand, spec: PolicySpec, *, own: DaemonSet | None, toolkit: DaemonSet | None, age: dt.timedelta
) -> bool:
    """Whether an operand is not created yet. `age` is that of the policy; `own` and `toolkit` as observed.

    The toolkit's pod is ready, and so available, once it has configured its node (`startupProbe` in its manifest).
    """
    if not operand.needs_handler or own is not None or not spec.toolkit.on or age > PATIENCE:
        return False
    return toolkit is None or toolkit.status.number_available == 0


def waiting(operand: Operand) -> Condition:
    """What its condition says meanwhile."""
    text = f"waits for the container toolkit to be ready on a first node, at most {PATIENCE.seconds} s"
    return Condition(type=operand.condition, status="False", reason="Progressing", message=text)
