"""An operand: one workload of the operator, its switch in the policy and its place in the order."""

from collections.abc import Callable
from dataclasses import dataclass

from lockgate.model.policy import PolicySpec
from lockgate.operands.context import Context
from lockgate.operands.manifests import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """What a package in `lockgate.operands` offers as `OPERAND`.

    `state` is NVIDIA's name of it in messages, `condition` the type of its condition on the policy, `switch` the field
    that turns it off (empty: always on), `objects` every (apiVersion, kind, name) it may have made, `needs_handler`
    whether its pods name the RuntimeClass whose handler the toolkit configures, `paced` whether a change of it goes
    over the nodes one after the other (`lockgate.rollout`).
    """

    order: int
    state: str
    condition: str
    switch: str
    enabled: Callable[[PolicySpec], bool]
    desired: Callable[[Context], tuple[Manifest, ...]]
    objects: tuple[tuple[str, str, str], ...]
    refusal: Callable[[Context], str] = lambda _: ""
    needs_handler: bool = False
    paced: bool = False

    @property
    def daemonset(self) -> str:
        """The name of its DaemonSet; empty when it has none."""
        return next((name for _, kind, name in self.objects if kind == "DaemonSet"), "")


def objects_of(*manifests: Manifest) -> tuple[tuple[str, str, str], ...]:
    """The identities of manifests."""
    return tuple((m["apiVersion"], m["kind"], m["metadata"]["name"]) for m in manifests)
