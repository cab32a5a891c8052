"""Memory was damaged, and one program was ended for it (XID 94).

An error of memory that ECC could not mend was contained: only the program that used that memory was ended.

Why it matters: the program crashes without a fault of its own. Other programs on the GPU go on, and new ones may start.
How to tell: NVIDIA's device plugin takes the whole GPU away for it, which is more than NVIDIA's catalogue asks for
(k8s-device-plugin#1974).
Fix: start the program again. Let the plugin ignore the code (`DP_DISABLE_HEALTHCHECKS=94`); reset the GPU when it is
idle, so that the bad row is replaced.
"""

from lockgate.diagnosis.followers import TAKEN_AWAY
from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.views.struck import STAGES, Hit, Struck
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.xid.codes import Family


@rule(codes=("K02",), severity=Severity.ERROR, stages=STAGES, mutes=TAKEN_AWAY)
def contained_memory_error(struck: Struck) -> Failed | Skipped | None:
    return struck.judged("K02", Family.CONTAINED, _remedy, on_node=Severity.WARNING)


def _remedy(hit: Hit) -> tuple[Remedy, ...]:
    return (
        Remedy("Start the program again", f"kubectl delete pod {hit.pod}", Risk.LOW),
        Remedy(
            "Let the device plugin go on after it: DP_DISABLE_HEALTHCHECKS=94 in devicePlugin.env",
            "kubectl edit clusterpolicy",
            Risk.MEDIUM,
        ),
    )
