"""The pod asks for a resource of NVIDIA's that no node advertises and that no plugin is known to advertise.

`nvidia.com/gpus`, `nvidia.com/GPU`, `nvidia.com/mig1g.5gb`: the API server takes any name, and the scheduler looks for
a node that has it.

Why it matters: the pod waits for ever, and `Insufficient nvidia.com/gpus` reads like a full cluster.
How to tell: the name is in no node's `status.allocatable`.
Fix: ask for a name that the nodes advertise.
"""

from difflib import get_close_matches

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import listed, pod_ref, scheduler_word, some
from lockgate.diagnosis.stage import Stage
from lockgate.model import names
from lockgate.model.facts import DeviceClasses, Missing, Nodes
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod
from lockgate.scheduling.requests import defaulted_requests

_VENDOR = "nvidia.com/"


@rule(codes=("C11",), severity=Severity.BLOCKER, stages=(Stage.SCHEDULING,), asks_gpu=None)
def misspelt(pod: Pod, nodes: Nodes, device_classes: DeviceClasses | Missing) -> Failed | None:
    offered = sorted({name for node in nodes for name in node.status.allocatable})
    wanted = sorted(defaulted_requests(pod.spec))
    classes = () if isinstance(device_classes, Missing) else device_classes
    known = (*offered, *names.HAMI_AMOUNTS, *(c.spec.extended_resource_name for c in classes))
    wrong = [n for n in wanted if n.startswith(_VENDOR) and n not in known and not names.is_gpu_resource(n)]
    gpus = [name for name in offered if names.is_gpu_resource(name)]
    if not wrong or not gpus:
        return None
    close = get_close_matches(wrong[0], gpus, n=1, cutoff=0)[0]
    return Failed(
        about=pod_ref(pod),
        summary=f"It asks for {wrong[0]}, which no node advertises; the nodes have {listed(gpus)}.",
        evidence=(
            Evidence(object=pod_ref(pod), field="resources.limits", value=listed(wrong)),
            Evidence(object="nodes", field="status.allocatable", value=listed(gpus)),
            *some(scheduler_word(pod)),
        ),
        remedy=(Remedy(f"Ask for {close} instead of {wrong[0]}", "", Risk.LOW),),
    )
