"""The pod runs without the GPU that it asks for.

The kubelet drops requests for resources that its node has never had, so a pod that was pinned there with `nodeName`
is admitted and gets no device.

Why it matters: everything looks right (Running, limits set), and the program finds no GPU.
How to tell: the container's status has no `allocatedResources` for the device, and its node's capacity has no such
name. A pod that got its devices by a claim (a DeviceClass has the name as `extendedResourceName`) has that claim in
`status.extendedResourceClaimStatus`.
Fix: remove `spec.nodeName` and let the scheduler choose; it only takes nodes that have the resource.
"""

from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.diagnosis.views.places import Places
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod


@rule(
    codes=("C20", "D12"),
    severity=Severity.ERROR,
    stages=(Stage.RUNNING, Stage.FAILED),
    mutes=("gpu-use/not-injected", "gpu-use/capability-left-out", "gpu-use/no-devices-found"),
)
def request_dropped(pod: Pod, places: Places | Missing) -> Failed | Passed | None:
    resource, node_name = gpu_asked(pod), pod.spec.node_name
    if _has_device(pod, resource):
        return Passed(f"the kubelet allocated {resource} to it")
    if claim := _claimed(pod, resource):
        return Passed(f"the claim {claim} serves its {resource}")
    node = None if isinstance(places, Missing) else places.nodes.get(node_name)
    if node is None or resource in node.status.capacity or resource in node.status.allocatable:
        return None
    return Failed(
        about=pod_ref(pod),
        summary=f"It asks for {resource}; {node_name} never advertised that, so its kubelet admitted the pod without.",
        evidence=(
            Evidence(object=pod_ref(pod), field="spec.nodeName", value=node_name),
            Evidence(object=f"node/{node_name}", field=f"status.capacity[{resource}]", value="absent"),
            Evidence(
                object=pod_ref(pod), field=f"status.containerStatuses.allocatedResources[{resource}]", value="absent"
            ),
        ),
        remedy=(
            Remedy("Remove spec.nodeName and make the pod anew", "", Risk.LOW),
            Remedy(
                "See which nodes have the resource",
                "kubectl get nodes -o custom-columns=N:.metadata.name,GPU:.status.allocatable",
                Risk.NONE,
            ),
        ),
    )


def _has_device(pod: Pod, resource: str) -> bool:
    given = [s.allocated_resources or {} for s in (*pod.status.container_statuses, *pod.status.init_container_statuses)]
    return any(str(g.get(resource, "0")) != "0" for g in given)


def _claimed(pod: Pod, resource: str) -> str:
    """The claim that the scheduler made for the resource; "" where a device plugin has to serve it."""
    made = pod.status.extended_resource_claim_status
    served = made is not None and any(m.resource_name == resource for m in made.request_mappings)
    return made.resource_claim_name if made is not None and served else ""
