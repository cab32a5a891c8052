"""The devices of each node as its plugin sees them (`GPUNodeState`): which are unhealthy, and why."""

from collections.abc import Mapping

from lockgate.diagnosis.gate_row import GateRow
from lockgate.model.facts import Missing, NodeStates
from lockgate.model.node_state import Device, DevicesState


class Devices:
    """What the plugins published of their devices; a node without a published state is not known."""

    def __init__(self, states: Mapping[str, DevicesState]) -> None:
        self._states = states

    def on(self, node: str) -> DevicesState | None:
        """A node's devices, or None where its plugin publishes none."""
        return self._states.get(node)

    def unhealthy(self, node: str) -> tuple[Device, ...]:
        """The devices of a node that its plugin calls unhealthy."""
        state = self.on(node)
        return tuple(d for d in state.devices if not d.healthy) if state else ()

    def explain(self, row: GateRow) -> bool:
        """Whether unhealthy devices alone explain what a node lacks, so that its plugin need not be gone."""
        state = self.on(row.node)
        if state is None or not state.registered or not state.devices:
            return False
        return bool(row.capacity) and len(self.unhealthy(row.node)) == len(state.devices)


def devices(node_states: NodeStates | Missing) -> Devices:
    """Bring together what the plugins published."""
    known = () if isinstance(node_states, Missing) else node_states
    return Devices({s.name: s.status.devices for s in known if s.status.devices is not None})
