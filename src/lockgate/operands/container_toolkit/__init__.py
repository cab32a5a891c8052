"""The container toolkit: makes the node's container runtime ready for GPUs, and undoes it when it leaves."""

from posixpath import basename, dirname
from typing import Final

from lockgate.operands.context import Context, owned
from lockgate.operands.daemonset import container, finish, pod_spec, set_env, set_program
from lockgate.operands.manifests import Manifest, load, one
from lockgate.operands.operand import Operand, objects_of

MAIN: Final = "nvidia-container-toolkit-ctr"
CONFIG: Final = "/etc/containerd/config.toml"
DROP_IN: Final = "/etc/containerd/conf.d/99-nvidia.toml"
SOCKET: Final = "/run/containerd/containerd.sock"
# Set by the operator from the user's values, which are paths on the node.
_PATHS: Final = ("CONTAINERD_CONFIG", "RUNTIME_CONFIG", "RUNTIME_DROP_IN_CONFIG", "CONTAINERD_SOCKET")


def desired(context: Context) -> tuple[Manifest, ...]:
    """The DaemonSet and the script that waits for the driver. Source of the paths: the reference, section 7.1."""
    daemonset, section = one(__name__, "DaemonSet"), context.spec.toolkit
    _set_installation(daemonset, section.install_dir)
    user = {variable.name: variable.value for variable in section.env}
    rest = [variable for variable in section.env if variable.name not in _PATHS]
    set_program(
        daemonset,
        MAIN,
        args=section.args,
        env=rest,
        resources=section.resources,
        host_network=section.host_network,
    )
    set_env(container(daemonset, MAIN), {"CONTAINERD_RUNTIME_CLASS": context.spec.operator.runtime_class})
    _set_cdi(daemonset, context.spec.cdi.enabled)
    _set_runtime_paths(daemonset, user)
    return (owned(one(__name__, "ConfigMap"), context), finish(daemonset, context, section, "spec.toolkit", paced=True))


def refusal(context: Context) -> str:
    """Why the toolkit cannot be deployed as the policy asks; empty when it can."""
    if context.spec.cdi.nri_plugin_enabled:
        return "Lockgate has no NRI plugin: set spec.cdi.nriPluginEnabled=false; CDI needs none"
    if context.runtime != "containerd":
        return f"GPU nodes run {context.runtime}, only containerd is configured so far: set spec.toolkit.enabled=false"
    return ""


def _set_installation(daemonset: Manifest, folder: str) -> None:
    set_env(container(daemonset, MAIN), {"ROOT": folder})
    for volume in pod_spec(daemonset)["volumes"]:
        if volume["name"] == "toolkit-install-dir":
            volume["hostPath"]["path"] = folder
    for mount in container(daemonset, MAIN)["volumeMounts"]:
        if mount["name"] == "toolkit-install-dir":
            mount["mountPath"] = folder


def _set_cdi(daemonset: Manifest, enabled: bool) -> None:
    if not enabled:
        names = ("CDI_ENABLED", "NVIDIA_RUNTIME_SET_AS_DEFAULT", "NVIDIA_CONTAINER_RUNTIME_MODE", "CRIO_CONFIG_MODE")
        set_env(container(daemonset, MAIN), dict.fromkeys(names))


def _set_runtime_paths(daemonset: Manifest, user: dict[str, str]) -> None:
    """Mount the folders that hold configuration, drop-in and socket, and say where they are in the container."""
    config = user.get("CONTAINERD_CONFIG") or user.get("RUNTIME_CONFIG") or CONFIG
    drop_in = user.get("RUNTIME_DROP_IN_CONFIG") or DROP_IN
    socket = user.get("CONTAINERD_SOCKET") or SOCKET
    inside = {
        "RUNTIME_CONFIG": f"/runtime/config-dir/{basename(config)}",
        "RUNTIME_DROP_IN_CONFIG": f"/runtime/config-dir.d/{basename(drop_in)}",
        "RUNTIME_SOCKET": f"/runtime/sock-dir/{basename(socket)}",
    }
    set_env(
        container(daemonset, MAIN),
        {
            **inside,
            "CONTAINERD_CONFIG": inside["RUNTIME_CONFIG"],
            "CONTAINERD_SOCKET": inside["RUNTIME_SOCKET"],
            "RUNTIME_CONFIG_HOST_PATH": config,
            "RUNTIME_DROP_IN_CONFIG_HOST_PATH": drop_in,
            "RUNTIME_SOCKET_HOST_PATH": socket,
        },
    )
    if source := user.get("RUNTIME_CONFIG_SOURCE"):
        places = [f"file=/host{part[5:]}" if part.startswith("file=") else part for part in source.split(",")]
        set_env(container(daemonset, MAIN), {"RUNTIME_CONFIG_SOURCE": ",".join(places)})
    folders = {
        "containerd-config": dirname(config),
        "containerd-drop-in-config": dirname(drop_in),
        "containerd-socket": dirname(socket),
    }
    for volume in pod_spec(daemonset)["volumes"]:
        if volume["name"] in folders:
            volume["hostPath"]["path"] = folders[volume["name"]]


OPERAND: Final = Operand(
    order=40,
    state="state-container-toolkit",
    condition="ContainerToolkitReady",
    switch="spec.toolkit.enabled",
    enabled=lambda spec: spec.toolkit.on,
    desired=desired,
    objects=objects_of(*load(__name__)),
    refusal=refusal,
    paced=True,
)
