"""Work that Kueue can never admit: it asks for more than its queue could ever give, or its queue is not there.

What merely waits in a queue waits by design, and so does what waits in one that is inactive: somebody may have stopped
it. This does so for good, until somebody changes the quota or the work.
"""

import re
from typing import Final

from lockgate.model.facts import Missing, QueuedWorkloads
from lockgate.model.objects import Condition
from lockgate.model.queues import QueuedWorkload

# kueue 0.10 to 0.17: pkg/scheduler/flavorassigner, pkg/controller/core/workload_controller.go.
_REASON: Final = "ExceedsMaxQuota"
_NEVER: Final = re.compile(
    r"exceeds? the maximum quota|> maximum capacity \("
    r"|(?:LocalQueue|ClusterQueue) \S+ (?:doesn't exist|does not exist)"
)
Owner = tuple[str, str, str]  # kind, namespace, name


def never_admitted(queued: QueuedWorkloads | Missing) -> frozenset[Owner]:
    """The owners of such work."""
    known = () if isinstance(queued, Missing) else queued
    return frozenset(
        (owner.kind, each.namespace, owner.name)
        for each in known
        if any(map(_is_final, each.status.conditions)) and not _is_admitted(each)
        for owner in each.metadata.owner_references
    )


def _is_final(condition: Condition) -> bool:
    refused = condition.type == "QuotaReserved" and condition.status == "False"
    return refused and (condition.reason == _REASON or _NEVER.search(condition.message) is not None)


def _is_admitted(queued: QueuedWorkload) -> bool:
    return any(c.type in ("Admitted", "Finished") and c.status == "True" for c in queued.status.conditions)
