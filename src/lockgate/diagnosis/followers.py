"""What follows when something of a node's GPU stack is broken, stage by stage; for `mutes`.

The stack starts in an order: driver, container toolkit, validator and device plugin. What comes later waits or fails.
"""

from typing import Final

WITHOUT_PODS: Final = ("operands/plugin-gone", "operands/init-waits", "operator/policy-not-ready")
"""Rules that fail when an operand has no pods, or pods that cannot begin."""

AFTER_PLUGIN: Final = (
    "operands/crashes",
    "operands/init-waits",
    "operands/plugin-gone",
    "operands/plugin-idle",
    "operands/resources-not-seen",
    "operands/validation-refused",
    "operator/policy-not-ready",
)
"""Rules that fail when the device plugin cannot do its work."""

BROKEN_NODE: Final = (*AFTER_PLUGIN, "operands/nvidia-smi-not-injected", "operands/cuda-not-injected")
"""Rules that fail when containers of the node get no driver files: in the wake of a fault of injection or driver."""

AFTER_DRIVER: Final = (
    *BROKEN_NODE,
    "containerd/handler-missing",
    "driver/upgrade-stuck",
    "driver/not-answering",
    "driver/module-not-loaded",
    "operands/dev-char-links",
    "operands/fabric",
    "operands/dcgm-without-driver",
    "operands/plugin-not-targeted",
    "operands/left-out",
    "injection/driver-root-missing",
    "injection/driver-library-missing",
    "injection/driver-not-loaded",
)
"""Rules that fail when the node's driver does not work; the toolkit, which writes the handler, waits for it."""

PAUSED: Final = ("operands/plugin-not-targeted", "operands/left-out", "operator/policy-not-ready")
"""Rules that fail while the MIG manager has paused the operands of a node."""

AFTER_MIG: Final = ("mig/config-failed", *PAUSED)
"""Rules that fail when the MIG manager cannot apply a layout."""

TAKEN_AWAY: Final = ("devices/unhealthy", "devices/fewer-than-hardware", "scheduling/cordoned")
"""Rules that fail when an XID, or who acts on it, takes a GPU or its node away."""
