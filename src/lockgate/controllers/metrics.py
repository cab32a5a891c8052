"""The operator's metrics, under NVIDIA's names (`gpu_operator_*`)."""

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge

from lockgate.model.objects import Node
from lockgate.operands.labels import is_discovered, is_gpu_node
from lockgate.operands.policy_state import PolicyState

OK, NOT_READY, NO_POLICY, FAILED = 1, 0, -1, -2


class Metrics:
    """One registry; the reconcilers set what they know."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.gpu_nodes = self._gauge("gpu_nodes_total", "Nodes with an NVIDIA GPU")
        self.last_success = self._gauge("reconciliation_last_success_ts_seconds", "Time of the last ready pass")
        self.status = self._gauge("reconciliation_status", "1 ready, 0 not ready, -1 no ClusterPolicy, -2 failed")
        self.has_discovery = self._gauge("reconciliation_has_nfd_labels", "Whether a node discovery labels nodes")
        self.passes = Counter("gpu_operator_reconciliation", "Passes over a ClusterPolicy", registry=self.registry)
        self.failures = Counter(
            "gpu_operator_reconciliation_failed", "Passes that failed or left it not ready", registry=self.registry
        )
        self.rollout = Gauge(
            "gpu_operator_toolkit_rollout_nodes",
            "Nodes by what the rollout of the container toolkit has come to on them",
            ["state"],
            registry=self.registry,
        )
        self.runtimes = Gauge(
            "gpu_operator_node_runtimes",
            "Nodes by what their toolkit publishes of the runtime, and how it differs from what was written",
            ["phase", "drift"],
            registry=self.registry,
        )
        self.status.set(NO_POLICY)

    def note_runtimes(self, counts: Mapping[tuple[str, str], int]) -> None:
        """Nodes by phase and drift; a pair that no node has any more goes."""
        self.runtimes.clear()
        for (phase, drift), nodes in counts.items():
            self.runtimes.labels(phase=phase, drift=drift).set(nodes)

    def note_rollout(self, counts: Mapping[str, int]) -> None:
        """Nodes by state: verified, changing, failed, outdated, held."""
        for state, nodes in counts.items():
            self.rollout.labels(state=state).set(nodes)

    def note(self, state: PolicyState, nodes: Iterable[Node]) -> None:
        """What a pass over the active policy found."""
        ready, nodes = state.state == "ready", tuple(nodes)
        self.passes.inc()
        self.failures.inc(0 if ready else 1)
        self.status.set(OK if ready else NOT_READY)
        if ready:
            self.last_success.set_to_current_time()
        self.gpu_nodes.set(sum(is_gpu_node(node.metadata.labels) for node in nodes))
        self.has_discovery.set(any(is_discovered(node.metadata.labels) for node in nodes))

    def note_no_policy(self) -> None:
        self.status.set(NO_POLICY)

    def note_failure(self) -> None:
        """A pass ended in an error of the API server or our own."""
        self.failures.inc()
        self.status.set(FAILED)

    def _gauge(self, name: str, text: str) -> Gauge:
        return Gauge(f"gpu_operator_{name}", text, registry=self.registry)
