"""How a Job that has failed came to its end, by its condition Failed."""

from typing import Final

from lockgate.diagnosis.seen import condition_of
from lockgate.model.finding import Evidence
from lockgate.model.objects import Workload

# pkg/apis/batch: reasons of the condition Failed.
_MEANING: Final = {
    "BackoffLimitExceeded": "its pods failed more often than backoffLimit allows",
    "DeadlineExceeded": "its activeDeadlineSeconds are over",
    "PodFailurePolicy": "its failure policy ended it",
    "MaxFailedIndexesExceeded": "more of its indexes failed than maxFailedIndexes allows",
    "FailedIndexes": "some of its indexes failed for good",
}


def job_end(workload: Workload) -> tuple[str, Evidence] | None:
    """Why it makes no more pods, and the condition that says so; None for what is no Job, or has not failed."""
    ended = next((c for c in workload.status.conditions if c.type == "Failed" and c.status == "True"), None)
    if workload.kind != "Job" or ended is None:
        return None
    place = f"job/{workload.namespace}/{workload.name}"
    return _MEANING.get(ended.reason, ended.reason), condition_of(place, ended)
