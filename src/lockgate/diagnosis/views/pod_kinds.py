"""The pods, sorted by what those of one workload have in common: what depends on that alone is asked once a workload.

Of long lists one copy is kept of labels, owners and containers (`collect.sharing`), by which pods of a kind are known
here; pods that share nothing are kinds of their own. A cluster has 100,000 pods and some thousand kinds.
"""

from collections.abc import Callable

from lockgate.model.facts import Missing, Pods
from lockgate.model.objects import Pod


class PodKinds:
    """Some pods."""

    def __init__(self, pods: Pods) -> None:
        self.pods = pods
        self._kinds: dict[tuple[int, int, int], list[int]] = {}
        for place, pod in enumerate(pods):
            own, containers = pod.metadata, pod.spec.containers
            # Every pod without containers has the same.
            kind = id(own.labels), id(own.owner_references), id(containers) if containers else -place
            if (places := self._kinds.get(kind)) is None:
                places = self._kinds[kind] = []
            places.append(place)

    def of(self, holds: Callable[[Pod], bool]) -> list[Pod]:
        """Those of the kinds for which it holds, in their order.

        It may look at labels, annotations, owners, and at the spec but for the node's name and affinity.
        """
        chosen = (places for places in self._kinds.values() if holds(self.pods[places[0]]))
        return [self.pods[place] for place in sorted(place for places in chosen for place in places)]


def pod_kinds(pods: Pods | Missing, namespace_pods: Pods | Missing) -> PodKinds:
    """All pods, or else those of one namespace."""
    known = namespace_pods if isinstance(pods, Missing) else pods
    return PodKinds(() if isinstance(known, Missing) else known)
