"""How many of its pods a maker of pods has, in the words of a finding."""

from lockgate.diagnosis.subject import wanted
from lockgate.model.objects import DaemonSet, Workload


def standing(maker: Workload | DaemonSet | None) -> str:
    """`Deployment infer has 0 of 2 pods`."""
    match maker:
        case DaemonSet():
            made, wished = maker.status.current_number_scheduled, maker.status.desired_number_scheduled
            return f"DaemonSet {maker.name} has {made} of {wished} pods"
        case Workload():
            return f"{maker.kind} {maker.name} has {maker.status.replicas} of {wanted(maker)} pods"
        case _:
            return "It has no pods"


def place(maker: Workload | DaemonSet | None) -> str:
    """`deployment/namespace/name`."""
    if maker is None:
        return "pods"
    kind = maker.kind if isinstance(maker, Workload) else "DaemonSet"
    return f"{kind.lower()}/{maker.namespace}/{maker.name}"
