"""The container toolkit: makes the node's container runtime ready for GPUs, and undoes it when it leaves."""

from posixpath import basename, dirname
from typing import Final, NamedTuple

import msgspec

from lockgate.operands.context import Context, owned
from lockgate.operands.daemonset import container, finish, pod_spec, set_env, set_program
from lockgate.operands.manifests import Manifest, load, one
from lockgate.operands.operand import Operand, objects_of

MAIN: Final = "nvidia-container-toolkit-ctr"


class Runtime(NamedTuple):
    """A container runtime as NVIDIA's operator sets it up: what the toolkit calls it, and paths on the node.

    `drop_in` "" is a runtime with one file only.
    """

    name: str
    config: str
    drop_in: str
    socket: str

    def variables(self, kind: str) -> tuple[str, str]:
        """The two names of a path's variable, NVIDIA's newer one first: RUNTIME_CONFIG, CONTAINERD_CONFIG."""
        return f"RUNTIME_{kind}", f"{self.name.upper()}_{kind}"


# By what a Node calls its runtime. Source: gpu-operator's transformForRuntime.
RUNTIMES: Final = {
    "containerd": Runtime(
        "containerd",
        "/etc/containerd/config.toml",
        "/etc/containerd/conf.d/99-nvidia.toml",
        "/run/containerd/containerd.sock",
    ),
    "cri-o": Runtime("crio", "/etc/crio/crio.conf", "/etc/crio/crio.conf.d/99-nvidia.conf", "/run/crio/crio.sock"),
    "docker": Runtime("docker", "/etc/docker/daemon.json", "", "/run/docker.sock"),
}
_PATHS: Final = ("CONFIG", "SOCKET")


def desired(context: Context) -> tuple[Manifest, ...]:
    """The DaemonSet and the script that waits for the driver. Source of the paths: the reference, section 7.1."""
    daemonset, section = one(__name__, "DaemonSet"), context.spec.toolkit
    _set_installation(daemonset, section.install_dir)
    user = {variable.name: variable.value for variable in section.env}
    runtime = RUNTIMES[context.runtime]
    ours = {"RUNTIME_DROP_IN_CONFIG", *(name for kind in _PATHS for name in runtime.variables(kind))}
    rest = tuple(variable for variable in section.env if variable.name not in ours)
    set_program(daemonset, MAIN, msgspec.structs.replace(section, env=rest))
    set_env(container(daemonset, MAIN), {"CONTAINERD_RUNTIME_CLASS": context.spec.operator.runtime_class})
    _set_cdi(daemonset, context.spec.cdi.enabled)
    _set_runtime_paths(daemonset, runtime, user)
    return (owned(one(__name__, "ConfigMap"), context), finish(daemonset, context, section, "spec.toolkit", paced=True))


def refusal(context: Context) -> str:
    """Why the toolkit cannot be deployed as the policy asks; empty when it can."""
    if context.spec.cdi.nri_plugin_enabled:
        return "Lockgate has no NRI plugin: set spec.cdi.nriPluginEnabled=false; CDI needs none"
    if context.runtime not in RUNTIMES:
        return f"GPU nodes run {context.runtime}, expected one of {', '.join(RUNTIMES)}: set spec.toolkit.enabled=false"
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


def _set_runtime_paths(daemonset: Manifest, runtime: Runtime, user: dict[str, str]) -> None:
    """Mount the folders that hold configuration, drop-in and socket, and say where they are in the container."""

    def chosen(kind: str, usual: str) -> str:
        newer, older = runtime.variables(kind)
        return user.get(older) or user.get(newer) or usual

    config, socket = chosen("CONFIG", runtime.config), chosen("SOCKET", runtime.socket)
    drop_in = (user.get("RUNTIME_DROP_IN_CONFIG") or runtime.drop_in) if runtime.drop_in else ""
    inside = {"CONFIG": f"/runtime/config-dir/{basename(config)}", "SOCKET": f"/runtime/sock-dir/{basename(socket)}"}
    stock = dict.fromkeys(name for kind in _PATHS for name in RUNTIMES["containerd"].variables(kind))
    env: dict[str, str | None] = stock | {name: path for k, path in inside.items() for name in runtime.variables(k)}
    env |= {
        "RUNTIME": runtime.name,
        "RUNTIME_CONFIG_HOST_PATH": config,
        "RUNTIME_SOCKET_HOST_PATH": socket,
        "RUNTIME_DROP_IN_CONFIG": f"/runtime/config-dir.d/{basename(drop_in)}" if drop_in else None,
        "RUNTIME_DROP_IN_CONFIG_HOST_PATH": drop_in or None,
    }
    if source := user.get("RUNTIME_CONFIG_SOURCE"):
        places = [f"file=/host{part[5:]}" if part.startswith("file=") else part for part in source.split(",")]
        env["RUNTIME_CONFIG_SOURCE"] = ",".join(places)
    set_env(container(daemonset, MAIN), env)
    _set_folders(daemonset, runtime, {"config": config, "drop-in-config": drop_in, "socket": socket})


def _set_folders(daemonset: Manifest, runtime: Runtime, paths: dict[str, str]) -> None:
    """The manifest has containerd's volumes; another runtime's have its name, and the folders of its files."""
    pod, main = pod_spec(daemonset), container(daemonset, MAIN)
    for what, path in paths.items():
        stock, name = f"containerd-{what}", f"{runtime.name}-{what}"
        for entry in (*pod["volumes"], *main["volumeMounts"]):
            if entry["name"] == stock:
                entry["name"] = name if path else ""
        for volume in pod["volumes"]:
            if volume["name"] == name:
                volume["hostPath"]["path"] = dirname(path)
    for entries in (pod["volumes"], main["volumeMounts"]):
        entries[:] = [entry for entry in entries if entry["name"]]


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
