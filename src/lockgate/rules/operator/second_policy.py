"""A second ClusterPolicy exists and is ignored.

Only the oldest counts. What is written into another one has no effect at all.

Why it matters: a person edits the ignored one and wonders why nothing changes.
How to tell: `kubectl get clusterpolicies` lists more than one; the state of the newer ones is ignored.
Fix: move its settings into the policy that counts, and delete it.
"""

from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import listed
from lockgate.diagnosis.stage import Stage
from lockgate.model.facts import ClusterPolicies
from lockgate.model.finding import Evidence, Remedy, Risk, Severity


@rule(codes=("G10",), severity=Severity.WARNING, stages=(Stage.CLUSTER,), asks_gpu=None)
def second_policy(cluster_policies: ClusterPolicies) -> Failed | Passed | None:
    if len(cluster_policies) < 2:
        return Passed("there is one ClusterPolicy") if cluster_policies else None
    oldest = min(cluster_policies, key=lambda p: (str(p.metadata.creation_timestamp or ""), p.name))
    others = [p for p in cluster_policies if p is not oldest]
    return Failed(
        about=f"clusterpolicy/{others[0].name}",
        summary=f"ClusterPolicy {oldest.name} is in charge; {listed(p.name for p in others)} has no effect.",
        evidence=tuple(
            Evidence(object=f"clusterpolicy/{p.name}", field="status.state", value=p.status.state or "none")
            for p in (oldest, *others)
        ),
        remedy=(
            Remedy(
                f"Delete {others[0].name}, once its settings are in {oldest.name}",
                f"kubectl delete clusterpolicy {others[0].name}",
                Risk.MEDIUM,
            ),
        ),
    )
