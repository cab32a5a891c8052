"""The pods that kubelets refused, node by node: they are never started, and stay behind as failed."""

from collections import defaultdict

from lockgate.diagnosis.stage import was_refused
from lockgate.model.facts import Missing, Pods
from lockgate.model.objects import Pod


class Refusals:
    """Refused pods that are still there."""

    def __init__(self, pods: dict[tuple[str, str], Pod]) -> None:
        self._on: dict[str, list[Pod]] = defaultdict(list)
        for pod in pods.values():
            self._on[pod.spec.node_name].append(pod)

    def on(self, node: str) -> tuple[Pod, ...]:
        """Those of one node."""
        return tuple(self._on.get(node, ()))


def refusals(pods: Pods | Missing, namespace_pods: Pods | Missing) -> Refusals:
    """Bring together what is known of both kinds of lists."""
    known = (p for section in (pods, namespace_pods) for p in (() if isinstance(section, Missing) else section))
    failed = (p for p in known if p.status.phase == "Failed")
    return Refusals({(p.namespace, p.name): p for p in failed if was_refused(p)})
