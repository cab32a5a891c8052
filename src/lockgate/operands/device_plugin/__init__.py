"""The device plugin: tells the kubelet which GPUs the node has, and how a container gets one."""

from typing import Final

from lockgate.operands.context import Context, owned
from lockgate.operands.daemonset import container, finish, pod_spec, set_env, set_program
from lockgate.operands.manifests import Manifest, load, one
from lockgate.operands.operand import Operand, objects_of

MAIN: Final = "nvidia-device-plugin"


def desired(context: Context) -> tuple[Manifest, ...]:
    """The DaemonSet and the script that waits for the driver."""
    daemonset, spec = one(__name__, "DaemonSet"), context.spec
    section = spec.device_plugin
    target = container(daemonset, MAIN)
    set_env(target, _environment(context))
    set_program(daemonset, MAIN, section)
    pod_spec(daemonset)["runtimeClassName"] = spec.operator.runtime_class
    _place_mps(daemonset, section.mps.root if section.mps else "/run/nvidia/mps")
    return (owned(one(__name__, "ConfigMap"), context), finish(daemonset, context, section, "spec.devicePlugin"))


def _environment(context: Context) -> dict[str, str | None]:
    spec = context.spec
    strategy = spec.mig.strategy or "none"
    by_cdi = spec.cdi.enabled
    hook = f"{spec.toolkit.install_dir}/toolkit/nvidia-cdi-hook" if by_cdi and spec.toolkit.on else None
    return {
        "MIG_STRATEGY": strategy,
        "NVIDIA_MIG_MONITOR_DEVICES": "all" if strategy != "none" else None,
        "DEVICE_LIST_STRATEGY": "cdi-annotations,cdi-cri" if by_cdi else "envvar",
        "CDI_ENABLED": "true" if by_cdi else None,
        "CDI_ANNOTATION_PREFIX": "cdi.k8s.io/" if by_cdi else None,
        "NVIDIA_CDI_HOOK_PATH": hook,
        "MPS_ROOT": spec.device_plugin.mps.root if spec.device_plugin.mps else "/run/nvidia/mps",
        "GDS_ENABLED": "true" if spec.gds.on else None,
        "MOFED_ENABLED": "true" if spec.gds.on else None,
        "GDRCOPY_ENABLED": "true" if spec.gdrcopy.on else None,
    }


def _place_mps(daemonset: Manifest, root: str) -> None:
    paths = {"mps-root": root, "mps-shm": f"{root}/shm"}
    for volume in pod_spec(daemonset)["volumes"]:
        if volume["name"] in paths:
            volume["hostPath"]["path"] = paths[volume["name"]]


def refusal(context: Context) -> str:
    """Why the plugin cannot be deployed as the policy asks; empty when it can."""
    config = context.spec.device_plugin.config
    if config and config.name:
        return f"configurations per node ({config.name}) are not built yet: unset spec.devicePlugin.config.name"
    return ""


OPERAND: Final = Operand(
    order=60,
    state="state-device-plugin",
    condition="DevicePluginReady",
    switch="spec.devicePlugin.enabled",
    enabled=lambda spec: spec.device_plugin.on,
    desired=desired,
    objects=objects_of(*load(__name__)),
    needs_handler=True,
    refusal=refusal,
)
