"""GPU feature discovery: labels the node with product, count, memory, driver and CUDA version of its GPUs."""

from typing import Final

from lockgate.operands.context import Context
from lockgate.operands.daemonset import container, finish, pod_spec, set_env, set_program
from lockgate.operands.manifests import Manifest, load, one
from lockgate.operands.operand import Operand, objects_of

MAIN: Final = "gpu-feature-discovery"


def desired(context: Context) -> tuple[Manifest, ...]:
    """The DaemonSet."""
    daemonset, spec = one(__name__, "DaemonSet"), context.spec
    section, strategy = spec.gfd, spec.mig.strategy or "none"
    monitor = "all" if strategy != "none" else None
    set_env(container(daemonset, MAIN), {"MIG_STRATEGY": strategy, "NVIDIA_MIG_MONITOR_DEVICES": monitor})
    set_program(daemonset, MAIN, section)
    pod_spec(daemonset)["runtimeClassName"] = spec.operator.runtime_class
    return (finish(daemonset, context, section, "spec.gfd"),)


OPERAND: Final = Operand(
    order=100,
    state="gpu-feature-discovery",
    condition="FeatureDiscoveryReady",
    switch="spec.gfd.enabled",
    enabled=lambda spec: spec.gfd.on,
    desired=desired,
    objects=objects_of(*load(__name__)),
    needs_handler=True,
)
