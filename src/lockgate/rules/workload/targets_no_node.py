"""The DaemonSet leaves every node out.

Its node selector matches no node, or every node that it matches has a taint that it does not tolerate.

Why it matters: DESIRED 0 is "ready" for every tool, and the controller writes no event.
How to tell: DESIRED is 0; each node's labels and taints, set beside the template's, tell why.
Fix: correct the label or taint that is shown, or the DaemonSet's selector or tolerations.
"""

from lockgate.diagnosis.rule import Failed, Passed, Skipped, rule
from lockgate.diagnosis.seen import listed
from lockgate.diagnosis.stage import Stage
from lockgate.model.facts import DaemonSets, Missing, Nodes
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import DaemonSet, Workload
from lockgate.scheduling.daemonsets import Target, targets
from lockgate.scheduling.taints import taint_text

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
    why = _why(nearest[0]) if nearest else "there is no node"
    return Failed(
        about=place,
        summary=f"DESIRED is {desired}: {why}.",
        evidence=(
            Evidence(object=place, field="status.desiredNumberScheduled", value=str(desired)),
            *(e for t in nearest for e in _seen(t)),
        ),
        remedy=(Remedy("Compare the nodes' labels and taints with it", "kubectl get nodes --show-labels", Risk.NONE),),
    )


def _why(target: Target) -> str:
    if target.misses:
        miss = target.misses[0]
        seen = "has no such label" if miss.seen is None else f"has {miss.key}={miss.seen}"
        return f"it selects {miss.wanted}, and {target.node}, the nearest, {seen}"
    return f"it does not tolerate {listed(map(taint_text, target.taints))} of {target.node}, the nearest"


def _seen(target: Target) -> list[Evidence]:
    place = f"node/{target.node}"
    labels = [
        Evidence(object=place, field=f"metadata.labels[{m.key}]", value=m.seen or "absent", note=f"wanted {m.wanted}")
        for m in target.misses
    ]
    taints = [
        Evidence(object=place, field="spec.taints", value=taint_text(t), note="not tolerated") for t in target.taints
    ]
    return labels + taints
