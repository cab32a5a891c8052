"""GPUs that a container gets without a request: by a variable that somebody set, where the runtime heeds it."""

import re
from typing import Final

import msgspec

from lockgate.containerd.effective import Effective
from lockgate.diagnosis.absent_driver import absent_driver
from lockgate.diagnosis.operand_names import validation
from lockgate.diagnosis.other_gpus import other_gpus
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.views.gate_two import GateTwo, NodeGate
from lockgate.diagnosis.views.handler import NeededHandler
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.diagnosis.views.words import Words
from lockgate.kit.untyped import mappings_at
from lockgate.model import names
from lockgate.model.facts import ClusterPolicies, Missing
from lockgate.model.finding import Evidence
from lockgate.model.objects import Container, Pod

VISIBLE: Final = "NVIDIA_VISIBLE_DEVICES"
_NOTHING: Final = ("", "void", "none")
_LISTED: Final = re.compile(r"^\s*GPU \d+: .*\(UUID: (?P<uuid>GPU-[\w-]+)\)", re.MULTILINE)
_ENV: Final = "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED"
_FILES: Final = (
    "/etc/nvidia-container-runtime/config.toml",
    "/usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml",
)
_LINE: Final = re.compile(r"^\s*accept-nvidia-visible-devices-envvar-when-unprivileged\s*=\s*false\b.*$", re.MULTILINE)
_OFF: Final = ("false", "0", "f", "off")


class ByHand(msgspec.Struct, frozen=True):
    """A container that asks for no GPU and sees some, or is set to: `listed` are those that its log names.

    `sure` that it gets them: its log says so, or the runtime is known to heed the variable.
    """

    container: Container
    listed: tuple[str, ...]
    variable: Evidence | None
    runtime: Evidence | None
    sure: bool


def by_hand(
    pod: Pod,
    pod_logs: PodLogs | Missing,
    words: Words,
    handler: NeededHandler,
    gate_two: GateTwo,
    cluster_policies: ClusterPolicies | Missing,
    node_words: NodeWords | Missing,
) -> ByHand | None:
    """The first such container; operands, and what a claim or another scheduler gives GPUs, get theirs otherwise."""
    if other_gpus(pod) or reaches_all(pod):
        return None
    for container in pod.spec.containers:
        if any(map(names.is_gpu_resource, container.resources.limits)):
            continue
        if listed := listed_by(pod, container, pod_logs):
            return ByHand(container, listed, variable(pod, container), None, sure=True)
        set_ = variable(pod, container)
        if set_ is None or set_.value in _NOTHING or absent_driver(words) is not None:
            continue
        if not _is_privileged(container) and ignored(pod.spec.node_name, cluster_policies, node_words):
            continue
        heeds = _heeds(pod, handler, gate_two.on(pod.spec.node_name))
        if heeds is None or heeds.value in names.HANDLERS:
            return ByHand(container, (), set_, heeds, sure=heeds is not None)
    return None


def reaches_all(pod: Pod) -> bool:
    """Whether it reaches devices without asking for one: operands, and their tests, run beside every user."""
    return bool(validation(pod.metadata.labels)) or any(
        owner.kind == "DaemonSet" for owner in pod.metadata.owner_references
    )


def listed_by(pod: Pod, container: Container, logs: PodLogs | Missing) -> tuple[str, ...]:
    """The UUIDs that a container's log lists as `nvidia-smi -L` does, each once."""
    for log in () if isinstance(logs, Missing) else logs.of(pod.namespace, pod.name):
        if log.container == container.name and not log.previous:
            return tuple(dict.fromkeys(_LISTED.findall(log.text)))
    return ()


def variable(pod: Pod, container: Container) -> Evidence | None:
    """The variable where the container's own spec sets it."""
    field = f"spec.containers[{container.name}].env[{VISIBLE}]"
    return next(
        (Evidence(object=pod_ref(pod), field=field, value=e.value) for e in container.env if e.name == VISIBLE), None
    )


def ignored(node: str, policies: ClusterPolicies | Missing, words: NodeWords | Missing) -> Evidence | None:
    """What tells the runtime of a node to ignore the variable in containers that are not privileged."""
    return _by_policy(policies) or (None if isinstance(words, Missing) else _by_file(node, words))


def _by_policy(policies: ClusterPolicies | Missing) -> Evidence | None:
    for policy in () if isinstance(policies, Missing) else policies:
        for each in mappings_at(policy.spec, "toolkit", "env"):
            if each.get("name") == _ENV and str(each.get("value", "")).lower() in _OFF:
                return Evidence(object=f"clusterpolicy/{policy.name}", field=f"spec.toolkit.env[{_ENV}]", value="false")
    return None


def _by_file(node: str, words: NodeWords) -> Evidence | None:
    for path in _FILES:
        if match := _LINE.search(words.file(node, path)):
            return Evidence(file=f"{node}:{path}", verbatim=match[0].strip())
    return None


def _is_privileged(container: Container) -> bool:
    return bool(container.security_context and container.security_context.privileged)


def _heeds(pod: Pod, needed: NeededHandler, gate: NodeGate) -> Evidence | None:
    """The handler that makes the pod's containers, as far as it is known."""
    if pod.spec.runtime_class_name:
        value = needed.name or pod.spec.runtime_class_name
        return Evidence(object=pod_ref(pod), field="spec.runtimeClassName", value=value)
    runtime, effective = gate.runtime, gate.effective
    if runtime and runtime.default_handler:
        field = "status.runtime.defaultHandler"
        return Evidence(object=f"gpunodestate/{gate.name}", field=field, value=runtime.default_handler)
    if not isinstance(effective, Effective) or not effective.default_runtime_name:
        return None
    return Evidence(file=f"{gate.name}:{gate.root}", field="default_runtime_name", value=effective.default_runtime_name)
