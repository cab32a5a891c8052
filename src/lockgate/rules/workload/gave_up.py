"""The Job has given up: it makes no more pods.

It has failed as often as `backoffLimit` allows, its `activeDeadlineSeconds` are over, or its failure policy ended it.

Why it matters: free GPUs change nothing for it any more, and its pods may be gone with what they said.
How to tell: the Job's condition Failed is True; its reason says which of them it was.
Fix: find out why its pods failed, by their logs or by a new run; a Job that has given up is made anew, not continued.
"""

from lockgate.diagnosis.job_end import job_end
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.kit.counted import counted
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Workload


@rule(codes=("A15",), severity=Severity.ERROR, stages=(Stage.NO_POD,), gpu=False, asks_gpu=None)
def gave_up(workload: Workload) -> Failed | None:
    ended = job_end(workload)
    if ended is None:
        return None
    meaning, seen = ended
    return Failed(
        about=seen.object,
        summary=f"{workload.name}: {meaning}; {counted(workload.status.failed, 'pod')} failed.",
        evidence=(seen,),
        remedy=(
            Remedy(
                "See what its pods left behind",
                f"kubectl describe job -n {workload.namespace} {workload.name}",
                Risk.NONE,
            ),
        ),
    )
