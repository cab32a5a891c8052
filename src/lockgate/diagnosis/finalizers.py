"""Who takes a finalizer off a pod, and how to see why that has not happened; of others the domain tells whose it is."""

from typing import Final

import msgspec

from lockgate.model.finding import Remedy, Risk
from lockgate.model.objects import Pod

_JOB: Final = "batch.kubernetes.io/job-tracking"
_FOREGROUND: Final = "foregroundDeletion"
_KUEUE: Final = "kueue.x-k8s.io/managed"


class Keeper(msgspec.Struct, frozen=True):
    """Who takes a finalizer off, when they do, and where to look."""

    who: str
    when: str
    look: str
    command: str  # {namespace} and {owner} are the pod's


# Kubernetes 1.37: pkg/controller/job, pkg/controller/garbagecollector. Kueue 0.17: pkg/controller/jobs/pod.
_KEEPERS: Final = {
    _JOB: Keeper(
        "the Job controller",
        "once it has counted how the pod ended",
        "See whether the Job is there and who manages it; its controller is part of kube-controller-manager",
        "kubectl get job -n {namespace} {owner} -o yaml; kubectl get lease -n kube-system kube-controller-manager",
    ),
    _FOREGROUND: Keeper(
        "the garbage collector",
        "once everything is gone that the pod owns",
        "See what the pod owns and is not gone: claims and volume claims name it as their owner",
        "kubectl get resourceclaims,pvc -n {namespace} -o"
        " custom-columns='KIND:.kind,NAME:.metadata.name,OWNER:.metadata.ownerReferences[*].name'",
    ),
    "orphan": Keeper(
        "the garbage collector",
        "once what the pod owns is left to itself",
        "See whether kube-controller-manager runs",
        "kubectl get lease -n kube-system kube-controller-manager",
    ),
    _KUEUE: Keeper(
        "Kueue",
        "once the pod's Workload is finished",
        "See the pod's Workload, and whether Kueue's controller runs",
        "kubectl get workloads.kueue.x-k8s.io -n {namespace}; kubectl get pods -n kueue-system",
    ),
}


def keeper(finalizer: str) -> str:
    """Whose a finalizer is and when they take it off, in a few words."""
    known = _KEEPERS.get(finalizer)
    if known is not None:
        return f"{known.who} takes it off {known.when}"
    domain, slash, _ = finalizer.partition("/")
    return f"a controller of {domain} takes it off" if slash else "who takes it off is not known"


def look_at(pod: Pod) -> tuple[Remedy, ...]:
    """How to see why its finalizers are still there."""
    owner = next((o.name for o in pod.metadata.owner_references if o.controller), "NAME")
    known = [_KEEPERS[name] for name in pod.metadata.finalizers if name in _KEEPERS]
    looks = (Remedy(k.look, k.command.format(namespace=pod.namespace, owner=owner), Risk.NONE) for k in known)
    others = [name for name in pod.metadata.finalizers if name not in _KEEPERS]
    search = (
        Remedy(
            f"Find the controller that set {name} (who last wrote the pod's metadata), and read its log",
            f"kubectl get pod -n {pod.namespace} {pod.name} -o yaml --show-managed-fields",
            Risk.NONE,
        )
        for name in others
    )
    return *looks, *search


def by_hand(pod: Pod) -> Remedy:
    """The last resort."""
    text = "Only where that controller is known to be gone: take the finalizers off by hand; what it was to do is lost"
    patch = """--type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'"""
    return Remedy(text, f"kubectl patch pod -n {pod.namespace} {pod.name} {patch}", Risk.MEDIUM)
