"""What follows when a node's containers with GPUs cannot be made: the operands wait, and the plugin's GPUs go."""

from typing import Final

BROKEN_NODE: Final = ("operands/init-waits", "operands/plugin-gone", "operator/policy-not-ready")
"""Rules that fail in the wake of a fault of the node's injection or driver; for `mutes`."""
