"""Karpenter's claims for nodes on which a GPU that they were made for is not registered yet.

Source: karpenter pkg/controllers/nodeclaim/lifecycle/initialization.go.
"""

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from lockgate.model import names
from lockgate.model.facts import Missing, NodeClaims
from lockgate.model.objects import Condition
from lockgate.model.queues import NodeClaim

_TEXT: Final = re.compile(r'Resource "(?P<resource>[^"]+)" was requested but not registered')


class Unregistered(msgspec.Struct, frozen=True):
    """A claim, the condition that says what it waits for, and the resource."""

    claim: NodeClaim
    said: Condition
    resource: str


def unregistered(node_claims: NodeClaims | Missing) -> tuple[Unregistered, ...]:
    """Those that wait; where claims are not known nothing waits."""
    return tuple(_waiting(() if isinstance(node_claims, Missing) else node_claims))


def _waiting(claims: NodeClaims) -> Iterator[Unregistered]:
    for claim in claims:
        own = (c for c in claim.status.conditions if c.type == "Initialized" and c.status != "True")
        told = next(((c, m["resource"]) for c in own if (m := _TEXT.search(c.message))), None)
        if told and names.is_gpu_resource(told[1]):
            yield Unregistered(claim, *told)
