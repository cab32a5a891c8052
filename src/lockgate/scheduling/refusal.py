"""Why one filter of the scheduler refuses a node to a pod, or a pod altogether."""

from collections.abc import Callable

import msgspec

from lockgate.scheduling.node_fit import Shortage
from lockgate.scheduling.scene import NodeView
from lockgate.scheduling.selectors import Miss


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """One filter's answer for one node, in the scheduler's words.

    `resolvable` says that evicting pods of lower priority could change it. `taints`, of which the scheduler stops at
    the first, `misses` and `shortages` say what the words leave out.
    """

    plugin: str
    reasons: tuple[str, ...]
    resolvable: bool = False
    taints: tuple[str, ...] = ()
    misses: tuple[Miss, ...] = ()
    shortages: tuple[Shortage, ...] = ()


class Rejected(msgspec.Struct, frozen=True, kw_only=True):
    """A pod that no node can take, said before any node is looked at."""

    plugin: str
    message: str


Check = Callable[[NodeView], Refusal | None]
