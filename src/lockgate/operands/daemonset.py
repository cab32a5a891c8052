"""Fits an operand's DaemonSet to a policy: images, environment, tolerations, paths, and all that operands share."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from lockgate.model.names import DRIVER_ROOT
from lockgate.model.policy.operands import Validator
from lockgate.model.policy.parts import Component, EnvVar, Image
from lockgate.model.policy.spec import DaemonSets, HostPaths
from lockgate.operands.context import Context, image_of, owned, pull_policy
from lockgate.operands.manifests import Manifest

# Placeholders in the manifests.
OPERAND_IMAGE: Final = "OPERAND"
VALIDATOR_IMAGE: Final = "VALIDATOR"
_KEPT_LABELS: Final = ("app", "app.kubernetes.io/part-of")  # selectors need them


def finish(daemonset: Manifest, context: Context, section: Image, path: str, *, paced: bool = False) -> Manifest:
    """Do what every operand needs: images, shared settings, host paths, owner and hash. Last step of `desired`.

    `path` names the section in messages, as in `spec.toolkit`. `paced`: the operator itself replaces the pods of an
    older revision, one node after the other. Raises ImageError.
    """
    set_images(daemonset, context, section, path)
    share(daemonset, context.spec.daemonsets)
    if paced:
        daemonset["spec"]["updateStrategy"] = {"type": "OnDelete"}
    place(daemonset, context)
    return owned(daemonset, context)


def pod_spec(daemonset: Manifest) -> Manifest:
    spec: Manifest = daemonset["spec"]["template"]["spec"]
    return spec


def container(daemonset: Manifest, name: str) -> Manifest:
    """A container or init container by name."""
    spec = pod_spec(daemonset)
    (found,) = [c for c in (*spec["initContainers"], *spec["containers"]) if c["name"] == name]
    return dict_of(found)


def dict_of(value: Any) -> Manifest:
    found: Manifest = value
    return found


def set_env(target: Manifest, values: Mapping[str, str | None]) -> None:
    """Set environment variables of a container in place; None removes one."""
    environment = {entry["name"]: entry for entry in target.get("env", [])}
    for name, value in values.items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = {"name": name, "value": value}
    target["env"] = list(environment.values())


def set_user_env(target: Manifest, variables: Iterable[EnvVar]) -> None:
    """What the policy sets; it wins over everything that the operator set before."""
    set_env(target, {variable.name: variable.value for variable in variables})


def set_program(daemonset: Manifest, name: str, section: Component | Validator) -> None:
    """A section's arguments, environment and resources for its main container, and the node's network for its pod."""
    target = container(daemonset, name)
    set_user_env(target, section.env)
    if section.args:
        target["args"] = list(section.args)
    if limits := msgspec.to_builtins(section.resources):
        target["resources"] = limits
    if section.host_network:
        pod_spec(daemonset).update(hostNetwork=True, dnsPolicy="ClusterFirstWithHostNet")


def set_images(daemonset: Manifest, context: Context, section: Image, path: str) -> None:
    """Replace the placeholders by images, with their pull policies and secrets."""
    validator = context.spec.validator
    images = {
        OPERAND_IMAGE: (image_of(section, context.image, path), pull_policy(section)),
        VALIDATOR_IMAGE: (image_of(validator, context.image, "spec.validator"), pull_policy(validator)),
    }
    spec = pod_spec(daemonset)
    for target in (*spec["initContainers"], *spec["containers"]):
        target["image"], target["imagePullPolicy"] = images[target["image"]]
    secrets = dict.fromkeys((*section.image_pull_secrets, *validator.image_pull_secrets))
    if secrets:
        spec["imagePullSecrets"] = [{"name": name} for name in secrets]


def share(daemonset: Manifest, shared: DaemonSets) -> None:
    """What `spec.daemonsets` says of all operands."""
    template = daemonset["spec"]["template"]
    labels = {key: value for key, value in shared.labels.items() if key not in _KEPT_LABELS}
    daemonset["metadata"]["labels"] |= labels
    template["metadata"]["labels"] = {**template["metadata"]["labels"], **labels}
    if shared.annotations:
        template["metadata"]["annotations"] = dict(shared.annotations)
    spec = template["spec"]
    if shared.tolerations:
        spec["tolerations"] = [msgspec.to_builtins(toleration) for toleration in shared.tolerations]
    if shared.priority_class_name:
        spec["priorityClassName"] = shared.priority_class_name
    if shared.pod_security_context:
        spec["securityContext"] = dict(shared.pod_security_context)
    daemonset["spec"]["updateStrategy"] = _strategy(shared)


def _strategy(shared: DaemonSets) -> Manifest:
    if shared.update_strategy == "OnDelete":
        return {"type": "OnDelete"}
    asked = shared.rolling_update.max_unavailable if shared.rolling_update else ""
    unavailable: int | str = int(asked) if asked.isdecimal() else asked or 1
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": unavailable}}


def place(daemonset: Manifest, context: Context) -> None:
    """Host paths that the policy may move: root of the node, driver root, kubelet's folder."""
    paths = context.spec.host_paths
    moved = {
        "host-root": paths.root_fs or "/",
        "host-dev-char": f"{paths.root_fs.rstrip('/')}/dev/char",
        "driver-install-dir": paths.driver_install_dir or DRIVER_ROOT,
        "device-plugin": f"{paths.kubelet_root_dir}/device-plugins",
    }
    for volume in pod_spec(daemonset).get("volumes", []):
        if volume["name"] in moved:
            volume["hostPath"]["path"] = moved[volume["name"]]
    for step in pod_spec(daemonset)["initContainers"]:
        if any(entry["name"] == "COMPONENT" for entry in step.get("env", [])):
            _tell_validator(step, paths)


def _tell_validator(step: Manifest, paths: HostPaths) -> None:
    """Paths that are not the usual ones; the driver root stays mounted where it is."""
    if paths.driver_install_dir not in ("", DRIVER_ROOT):
        roots = {"DRIVER_INSTALL_DIR": paths.driver_install_dir, "DRIVER_INSTALL_DIR_CTR_PATH": DRIVER_ROOT}
        set_env(step, roots)
    if paths.root_fs not in ("", "/"):
        set_env(step, {"HOST_ROOT": paths.root_fs})
