"""containerd's CRI plugin is off, so that the kubelet cannot use it.

`disabled_plugins` names `cri`, as in the file that comes with Docker's packages, or the plugin could not be loaded:
containerd runs and answers, and knows nothing of pods.

Why it matters: no pod starts on the node, and after a restart of the kubelet the node is no longer ready.
How to tell: the kubelet says `unknown service runtime.v1.RuntimeService`; `disabled_plugins` in containerd's files.
Fix: take `cri` out of `disabled_plugins` and restart containerd. Where it is not named there, containerd's log says
why the plugin was not loaded; containerd before 1.6 does not know the kubelet's version of CRI at all.
"""

import re
from typing import Final

from lockgate.containerd.effective import Effective
from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import condition_of
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_two import GateTwo, NodeGate
from lockgate.diagnosis.views.words import Words
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod

_UNKNOWN: Final = re.compile(r"unknown service runtime\.v1(?:alpha2)?\.(?:Runtime|Image)Service")
_LOG: Final = "sudo journalctl -u containerd --no-pager | grep -i cri | tail"


@rule(
    codes=("E06",),
    severity=Severity.BLOCKER,
    stages=(Stage.NODE, Stage.CREATING),
    asks_gpu=None,
    mutes=(
        *BROKEN_NODE,
        "containerd/dropin-overridden",
        "containerd/handler-missing",
        "containerd/not-configured",
        "nodes/not-ready",
    ),
    runtime="containerd",
)
def cri_disabled(
    node: Node | Missing, pod: Pod | Missing, words: Words | Missing, gate_two: GateTwo
) -> Failed | Passed | None:
    asked = isinstance(node, Node)
    name = node.name if isinstance(node, Node) else pod.spec.node_name if isinstance(pod, Pod) else ""
    gate = gate_two.on(name)
    said = _by_kubelet(node) if isinstance(node, Node) else _of_pod(words)
    setting = _setting(gate)
    if said is None and not (isinstance(node, Node) and setting and _is_read(gate, node)):
        serves = f"containerd on {name} serves the kubelet: its CRI plugin is not disabled"
        return Passed(serves) if asked and _is_on(gate) else None
    return Failed(
        about=f"node/{name}",
        severity=None if said else Severity.WARNING,
        summary=_summary(name, setting, is_loaded=said is not None),
        nodes=(name,),
        evidence=tuple(e for e in (said, setting) if e),
        remedy=_remedies(name, setting),
    )


def _by_kubelet(node: Node) -> Evidence | None:
    """The kubelet's own words about the runtime, in the node's condition."""
    ready = next((c for c in node.status.conditions if c.type == "Ready" and _UNKNOWN.search(c.message)), None)
    return condition_of(f"node/{node.name}", ready) if ready else None


def _of_pod(words: Words | Missing) -> Evidence | None:
    said = None if isinstance(words, Missing) else words.find_outside_logs(_UNKNOWN)
    return said.evidence if said else None


def _is_read(gate: NodeGate, node: Node) -> bool:
    """Whether containerd goes by these files: where it lists handlers and no agent asked it, it may go by others."""
    return gate.runtime is not None or not node.status.runtime_handlers


def _is_on(gate: NodeGate) -> bool:
    return isinstance(gate.effective, Effective) and not gate.effective.cri_disabled


def _setting(gate: NodeGate) -> Evidence | None:
    """The place in the node's files that turns the plugin off."""
    effective = gate.effective
    if not isinstance(effective, Effective) or not effective.cri_disabled:
        return None
    origin = effective.provenance("disabled_plugins")
    value = ", ".join(effective.disabled_plugins)
    return gate.quote(origin, field="disabled_plugins", value=value) if origin and value else None


def _summary(node: str, setting: Evidence | None, *, is_loaded: bool) -> str:
    if setting is None:
        return f"{node}: containerd answers, and offers the kubelet no CRI: its plugin is disabled or was not loaded."
    off = f"{node}: disabled_plugins of containerd names {setting.value} ({_place(setting)})"
    return f"{off}, so that it makes no pods." if is_loaded else f"{off}: once it restarts it makes no pods."


def _place(setting: Evidence) -> str:
    file = setting.file.partition(":")[2]
    return f"{file}:{setting.line}" if setting.line else file


def _remedies(node: str, setting: Evidence | None) -> tuple[Remedy, ...]:
    if setting is None:
        look = f"sudo containerd config dump | grep disabled_plugins; {_LOG}"
        return (Remedy(f"See on {node} whether the plugin is disabled, or why it was not loaded", look, Risk.NONE),)
    text = f"On {node}, take cri out of disabled_plugins in {_place(setting)}, and restart containerd"
    return (Remedy(text, "sudo systemctl restart containerd", Risk.MEDIUM),)
