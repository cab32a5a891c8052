"""A program's own fault on the GPU (XID of an application).

The driver ended a program that made a fault on the GPU: a wrong address (31), an exception in its kernel (13), broken
commands (32, 69, 80), or it was cleared away after another error (43, 45, 68).

Why it matters: the pod crashes, and it looks like a broken GPU. The GPU is well, and the next program can use it.
How to tell: the line names the program's process. XID 45 follows another error, or a program that was killed: look
for what stands before it. NVIDIA's device plugin ignores 13, 31, 43, 45 and 68, but takes the GPU away after 69, 80
or 32, until the plugin is restarted.
Fix: look into the program (compute-sanitizer, newer CUDA libraries). When many different programs fail on one GPU,
suspect that GPU.
"""

from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.views.struck import STAGES, Hit, Struck
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.xid.codes import Family


@rule(codes=("K01",), severity=Severity.ERROR, stages=STAGES)
def application(struck: Struck) -> Failed | Skipped | None:
    return struck.judged("K01", Family.APPLICATION, _remedy, on_node=Severity.INFO)


def _remedy(hit: Hit) -> tuple[Remedy, ...]:
    return (
        Remedy("Read what the program said when it ended", f"kubectl logs {hit.pod} --previous --tail=50", Risk.NONE),
        Remedy("Run it under NVIDIA's checker of GPU memory", "compute-sanitizer PROGRAM", Risk.LOW),
    )
