"""The Job of the failed pod makes no more pods.

It has given up (`BackoffLimitExceeded`, `DeadlineExceeded`, ...); why its pods failed is another matter.

Why it matters: once the cause is mended nothing happens by itself, however free the GPUs are.
How to tell: the Job's condition Failed is True.
Fix: mend why its pods failed, then make the Job anew; a Job that has given up is not continued.
"""

from lockgate.diagnosis.job_end import job_end
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.model.facts import Missing
from lockgate.model.finding import Severity
from lockgate.model.objects import Workload


@rule(
    codes=("A15",), severity=Severity.INFO, stages=(Stage.FAILED, Stage.ADMISSION), gpu=None, asks_gpu=None, aside=True
)
def no_more_tries(workload: Workload | Missing) -> Failed | None:
    if isinstance(workload, Missing) or (ended := job_end(workload)) is None:
        return None
    meaning, seen = ended
    return Failed(
        about=seen.object,
        summary=f"{workload.name} has given up ({seen.note}): {meaning}. Make it anew once that is mended.",
        evidence=(seen,),
    )
