"""The Job has given up: it makes no more pods.

It has failed as often as `backoffLimit` allows, its `activeDeadlineSeconds` are over, or its failure policy ended it.

Why it matters: free GPUs change nothing for it any more, and its pods may be gone with what they said.
How to tell: the Job's condition Failed is True; its reason says which of them it was.
Fix: find out why its pods failed, by their logs or by a new run; a Job that has given up is made anew, not continued.
"""

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.kit.counted import counted
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Workload

# pkg/apis/batch: reasons of the condition Failed.
_MEANING = {
    "BackoffLimitExceeded": "its pods failed more often than backoffLimit allows",
    "DeadlineExceeded": "its activeDeadlineSeconds are over",
    "PodFailurePolicy": "its failure policy ended it",
    "MaxFailedIndexesExceeded": "more of its indexes failed than maxFailedIndexes allows",
    "FailedIndexes": "some of its indexes failed for good",
}


@rule(codes=("A15",), severity=Severity.ERROR, stages=(Stage.NO_POD,), gpu=False, asks_gpu=None)
def gave_up(workload: Workload) -> Failed | None:
    ended = next((c for c in workload.status.conditions if c.type == "Failed" and c.status == "True"), None)
    if workload.kind != "Job" or ended is None:
        return None
    place = f"job/{workload.namespace}/{workload.name}"
    return Failed(
        about=place,
        summary=f"{workload.name}: {_MEANING.get(ended.reason, ended.reason)}; "
        f"{counted(workload.status.failed, 'pod')} failed.",
        evidence=(
            Evidence(
                object=place,
                field="status.conditions[Failed]",
                value=ended.status,
                verbatim=ended.message,
                note=ended.reason,
            ),
        ),
        remedy=(
            Remedy(
                "See what its pods left behind",
                f"kubectl describe job -n {workload.namespace} {workload.name}",
                Risk.NONE,
            ),
        ),
    )
