"""What the nodes' agents publish, by node; nothing where that is not known."""

from collections.abc import Mapping

from lockgate.model.facts import Missing, NodeStates
from lockgate.model.node_state import GPUNodeState

Published = Mapping[str, GPUNodeState]


def published(node_states: NodeStates | Missing) -> Published:
    """Sort them once."""
    return {} if isinstance(node_states, Missing) else {state.name: state for state in node_states}
