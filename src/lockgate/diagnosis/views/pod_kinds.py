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
        numbers: dict[tuple[int, int, int], int] = {}
        self._kinds: list[int] = []  # of each pod, in their order
        self._first: list[Pod] = []  # of each kind
        for place, pod in enumerate(pods):
            own, containers = pod.metadata, pod.spec.containers
            # Every pod without containers has the same.
            kind = id(own.labels), id(own.owner_references), id(containers) if containers else -place
            number = numbers.get(kind)
            if number is None:
                number = numbers[kind] = len(numbers)
                self._first.append(pod)
            self._kinds.append(number)

    def of(self, holds: Callable[[Pod], bool]) -> list[Pod]:
        """Those of the kinds for which it holds, in their order.

        It may look at labels, annotations, owners, and at the spec but for the node's name and affinity.
        """
        chosen = list(map(holds, self._first))
        return [pod for pod, kind in zip(self.pods, self._kinds, strict=True) if chosen[kind]] if any(chosen) else []


def pod_kinds(pods: Pods | Missing, namespace_pods: Pods | Missing) -> PodKinds:
    """All pods, or else those of one namespace."""
    known = namespace_pods if isinstance(pods, Missing) else pods
    return PodKinds(() if isinstance(known, Missing) else known)
