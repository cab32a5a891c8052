"""Karpenter waits for a resource that its new node does not offer.

A NodeClaim counts as initialized when every resource that was asked of it is registered on the node. Until then
Karpenter keeps the node's place for the pod, and after a while may replace the node.

Why it matters: nodes come, cost money and go, and the pod stays Pending. The device plugin is late or broken there, or
it offers the GPUs under another name (`nvidia.com/gpu.shared`) than the one that Karpenter expects.
How to tell: the NodeClaim's condition Initialized says `Resource ... was requested but not registered`.
Fix: mend the device plugin on the node, or keep the resource's name with shared GPUs (`renameByDefault: false`).
"""

from lockgate.diagnosis.remedies import find_plugin
from lockgate.diagnosis.rule import Failed, on_each, rule
from lockgate.diagnosis.seen import condition_of, listed
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.places import Places
from lockgate.diagnosis.views.unregistered import Unregistered
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Node


@rule(
    codes=("B10",),
    severity=Severity.WARNING,
    stages=(Stage.SCHEDULING, Stage.NODE),
    mutes=("discovery/no-gpu-node",),  # the node that it made for the pod is there, and has no GPU to show yet
)
def node_not_initialized(unregistered: tuple[Unregistered, ...], places: Places, node: Node | Missing) -> Failed | None:
    mine = [each for each in unregistered if isinstance(node, Missing) or each.claim.status.node_name == node.name]
    return on_each([_failed(each, places) for each in mine]) if mine else None


def _failed(waiting: Unregistered, places: Places) -> Failed:
    claim = waiting.claim
    place, on = f"nodeclaim/{claim.name}", claim.status.node_name
    node = places.nodes.get(on)
    offers = _offers(node) if node else ()
    instead = f", instead of it {listed(offers)}" if offers else ""
    return Failed(
        about=f"node/{on}" if on else place,
        summary=f"{on or claim.name}: {waiting.resource}, which Karpenter waits for, is not registered{instead}.",
        nodes=(on,) if on else (),
        evidence=(condition_of(place, waiting.said),),
        remedy=(
            Remedy(
                "See whether the device plugin runs on the node, and under which name it offers GPUs",
                find_plugin(on),
                Risk.NONE,
            ),
        ),
    )


def _offers(node: Node) -> list[str]:
    return [f"{n}: {c}" for n, c in sorted(node.status.allocatable.items()) if names.is_gpu_resource(n) and c != "0"]
