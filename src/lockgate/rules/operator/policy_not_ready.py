"""The ClusterPolicy is not ready.

The operator's own word: which operands it waits for, or why it could not follow the policy at all.

Why it matters: it is the operator's summary and names an operand, seldom the cause; causes that are found stand beside.
How to tell: the policy's condition Ready is False, or its `status.state` is notReady.
Fix: follow the first condition that is False; `kubectl gpu why operand/NAME` looks into one operand.
"""

from collections.abc import Sequence

from lockgate.diagnosis.node_start import start_of
from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import condition_of
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.operands import Operands
from lockgate.model.facts import ClusterPolicies, Missing, Nodes, Snapshot
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import ClusterPolicy, Condition

_PAIR = ("Ready", "Error")
_FAILED = ("ReconcileFailed",)
_ON_THE_WAY = ("Progressing", "NotCreated", "Waiting")


@rule(codes=("I01",), severity=Severity.ERROR, stages=(Stage.CLUSTER,), asks_gpu=None)
def policy_not_ready(
    cluster_policies: ClusterPolicies, nodes: Nodes | Missing, operands: Operands, snapshot: Snapshot
) -> Failed | Passed | None:
    sick = [p for p in cluster_policies if p.status.state not in ("ready", "ignored")]
    if not sick:
        ready = next((p.name for p in cluster_policies if p.status.state == "ready"), "")
        return Passed(f"ClusterPolicy {ready} is ready") if ready else None
    policy = sick[0]
    false = _false(policy)
    first = false[0] if false else None
    going = _is_on_the_way(policy, false) if false else _is_starting(nodes, operands, snapshot)
    why = first.message or first.reason if first else _unsaid(policy)
    return Failed(
        about=f"clusterpolicy/{policy.name}",
        severity=Severity.WARNING if going else None,
        summary=f"ClusterPolicy {policy.name} is {policy.status.state or 'without a state'}: {why}",
        evidence=(
            Evidence(object=f"clusterpolicy/{policy.name}", field="status.state", value=policy.status.state or "none"),
            *(condition_of(f"clusterpolicy/{policy.name}", c) for c in false),
        ),
        remedy=(
            Remedy(
                "See every condition of the policy",
                f"kubectl get clusterpolicy {policy.name} -o jsonpath='{{.status.conditions}}'",
                Risk.NONE,
            ),
        ),
    )


def _is_on_the_way(policy: ClusterPolicy, false: Sequence[Condition]) -> bool:
    """Whether all that is said is that operands are not ready yet, and not that the operator failed at its own work."""
    own = [c for c in false if c.type not in _PAIR]
    failed = any(c.type == "Error" and c.status == "True" and c.reason in _FAILED for c in policy.status.conditions)
    return not failed and all(c.reason in _ON_THE_WAY for c in own)


def _is_starting(nodes: Nodes | Missing, operands: Operands, snapshot: Snapshot) -> bool:
    known = () if isinstance(nodes, Missing) else nodes
    return any(start_of(node, operands.on(node.name), snapshot.taken_at) for node in known)


def _unsaid(policy: ClusterPolicy) -> str:
    if policy.status.state:  # an operator wrote it
        return "no condition of it says why; the operator's log does"
    return "its status says nothing: no operator has looked at it yet"


def _false(policy: ClusterPolicy) -> list[Condition]:
    """The operands' conditions that do not hold, else the summary."""
    own = [c for c in policy.status.conditions if c.status == "False" and c.type not in _PAIR]
    pair = [c for c in policy.status.conditions if (c.type, c.status) in (("Error", "True"), ("Ready", "False"))]
    return own or pair[:1]
