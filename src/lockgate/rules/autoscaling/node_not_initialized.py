"""Karpenter waits for a resource that its new node does not offer.

A NodeClaim counts as initialized when every resource that was asked of it is registered on the node. Until then
Karpenter keeps the node's place for the pod, and after a while may replace the node.

Why it matters: nodes come, cost money and go, and the pod stays Pending. The device plugin is late or broken there, or
it offers the GPUs under another name (`nvidia.com/gpu.shared`) than the one that Karpenter expects.
How to tell: the NodeClaim's condition Initialized says `Resource ... was requested but not registered`.
Fix: mend the device plugin on the node, or keep the resource's name with shared GPUs (`renameByDefault: false`).
"""

import re

from lockgate.diagnosis.remedies import find_plugin
from lockgate.diagnosis.rule import Failed, on_each, rule
from lockgate.diagnosis.seen import condition_of, listed
from lockgate.diagnosis.stage import Stage
from lockgate.model import names
from lockgate.model.facts import Missing, NodeClaims, Nodes
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Condition, Node
from lockgate.model.queues import NodeClaim

# karpenter pkg/controllers/nodeclaim/lifecycle/initialization.go
_TEXT = re.compile(r'Resource "(?P<resource>[^"]+)" was requested but not registered')


@rule(
    codes=("B10",),
    severity=Severity.WARNING,
    stages=(Stage.SCHEDULING, Stage.NODE),
    mutes=("discovery/no-gpu-node",),  # the node that it made for the pod is there, and has no GPU to show yet
)
def node_not_initialized(node_claims: NodeClaims | Missing, nodes: Nodes, node: Node | Missing) -> Failed | None:
    known = () if isinstance(node_claims, Missing) else node_claims
    mine = [c for c in known if isinstance(node, Missing) or c.status.node_name == node.name]
    waiting = [(c, said) for c in mine if (said := _waits(c)) and names.is_gpu_resource(_resource(said))]
    return on_each([_failed(claim, said, nodes) for claim, said in waiting]) if waiting else None


def _failed(claim: NodeClaim, said: Condition, nodes: Nodes) -> Failed:
    place, on = f"nodeclaim/{claim.name}", claim.status.node_name
    offers = [o for n in nodes if n.name == on for o in _offers(n)]
    instead = f", instead of it {listed(offers)}" if offers else ""
    return Failed(
        about=f"node/{on}" if on else place,
        summary=f"{on or claim.name}: {_resource(said)}, which Karpenter waits for, is not registered{instead}.",
        nodes=(on,) if on else (),
        evidence=(condition_of(place, said),),
        remedy=(
            Remedy(
                "See whether the device plugin runs on the node, and under which name it offers GPUs",
                find_plugin(on),
                Risk.NONE,
            ),
        ),
    )


def _waits(claim: NodeClaim) -> Condition | None:
    own = (c for c in claim.status.conditions if c.type == "Initialized" and c.status != "True")
    return next((c for c in own if _TEXT.search(c.message)), None)


def _resource(said: Condition) -> str:
    found = _TEXT.search(said.message)
    return found["resource"] if found else ""


def _offers(node: Node) -> list[str]:
    return [f"{n}: {c}" for n, c in sorted(node.status.allocatable.items()) if names.is_gpu_resource(n) and c != "0"]
