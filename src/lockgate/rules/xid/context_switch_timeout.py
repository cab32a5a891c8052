"""The GPU could not switch between programs in time (XID 109).

A program held the GPU in a state from which it could not be taken off.

Why it matters: NVIDIA's catalogue asks for a reset, while NVIDIA's device plugin ignores the code and goes on handing
the GPU out (k8s-device-plugin#1974): pods that get it may fail one after the other.
How to tell: the same GPU appears in the kernel's log again when the next program starts.
Fix: drain the node and reset the GPU; let the plugin take it away next time (`DP_ENABLE_HEALTHCHECKS=109`).
"""

from lockgate.diagnosis.followers import TAKEN_AWAY
from lockgate.diagnosis.remedies import drain_and_reset
from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.views.struck import STAGES, Hit, Struck
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.xid.codes import Family


@rule(codes=("K07",), severity=Severity.ERROR, stages=STAGES, mutes=TAKEN_AWAY)
def context_switch_timeout(struck: Struck) -> Failed | Skipped | None:
    return struck.judged("K07", Family.CONTEXT_SWITCH, _remedy, on_node=Severity.WARNING)


def _remedy(hit: Hit) -> tuple[Remedy, ...]:
    return (
        *drain_and_reset(hit.node, hit.smi),
        Remedy(
            "Let the device plugin act on it: DP_ENABLE_HEALTHCHECKS=109 in devicePlugin.env",
            "kubectl edit clusterpolicy",
            Risk.MEDIUM,
        ),
    )
