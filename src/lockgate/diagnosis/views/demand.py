"""Who waits for a GPU: whether an empty or closed node matters to anybody now."""

from lockgate.diagnosis.stage import Stage, stage_of
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.model.facts import Missing, Pods


def demand(pods: Pods | Missing, namespace_pods: Pods | Missing) -> Pods:
    """The pods that ask for a GPU and have no node yet; of those that are known."""
    known = namespace_pods if isinstance(pods, Missing) else pods
    waiting = () if isinstance(known, Missing) else known
    without = (p for p in waiting if not p.spec.node_name)
    return tuple(p for p in without if stage_of(p) is Stage.SCHEDULING and gpu_asked(p))
