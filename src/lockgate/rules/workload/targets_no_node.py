"""The DaemonSet leaves every node out.

Its node selector matches no node, or every node that it matches has a taint that it does not tolerate.

Why it matters: DESIRED 0 is "ready" for every tool, and the controller writes no event.
How to tell: DESIRED is 0; each node's labels and taints, set beside the template's, tell why.
Fix: correct the label or taint that is shown, or the DaemonSet's selector or tolerations.
"""

from lockgate.diagnosis.out_of_reach import seen, why
from lockgate.diagnosis.rule import Failed, Passed, Skipped, rule
from lockgate.diagnosis.seen import listed
from lockgate.diagnosis.stage import Stage
from lockgate.model.facts import DaemonSets, Missing, Nodes
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import DaemonSet, Workload
from lockgate.scheduling.daemonsets import Target, targets

_MOST = 5


@rule(codes=("G04", "G05"), severity=Severity.ERROR, stages=(Stage.NO_POD,), asks_gpu=None)
def targets_no_node(
    workload: Workload, daemon_sets: DaemonSets | Missing, nodes: Nodes | Missing
) -> Failed | Passed | Skipped | None:
    if workload.kind != "DaemonSet":
        return None
    if isinstance(daemon_sets, Missing):
        return Skipped(daemon_sets.reason, daemon_sets.how)
    if isinstance(nodes, Missing):
        return Skipped(nodes.reason, nodes.how)
    return _judged(workload, daemon_sets, nodes)


def _judged(workload: Workload, daemon_sets: DaemonSets, nodes: Nodes) -> Failed | Passed | None:
    own = [d for d in daemon_sets if (d.namespace, d.name) == (workload.namespace, workload.name)]
    if not own:
        return None
    judged = targets(own[0], [n for n in nodes if is_gpu_node(n)] or nodes)
    running = [t.node for t in judged if t.runs]
    if running:
        return Passed(f"it targets {listed(running)}")
    return _failed(own[0], sorted(judged, key=lambda t: (len(t.misses) + len(t.taints), t.node))[:_MOST])


def _failed(daemon_set: DaemonSet, nearest: list[Target]) -> Failed:
    place = f"daemonset/{daemon_set.namespace}/{daemon_set.name}"
    desired = daemon_set.status.desired_number_scheduled
    reason = why(nearest[0]) if nearest else "there is no node"
    return Failed(
        about=place,
        summary=f"DESIRED is {desired}: {reason}.",
        evidence=(
            Evidence(object=place, field="status.desiredNumberScheduled", value=str(desired)),
            *(e for t in nearest for e in seen(t)),
        ),
        remedy=(Remedy("Compare the nodes' labels and taints with it", "kubectl get nodes --show-labels", Risk.NONE),),
    )
