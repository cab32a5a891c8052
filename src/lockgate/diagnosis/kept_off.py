"""Why a DaemonSet of a GPU stack keeps off a node: a pause, a person's label, the operator, a taint; and what to do.

`nvidia.com/gpu.deploy.operands=false` takes every other `nvidia.com/gpu.deploy.*` label off the node
(gpu-operator controllers/state_manager.go): the label that is missing then says nothing of the operator.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from lockgate.diagnosis.seen import listed
from lockgate.model import names
from lockgate.model.finding import Remedy, Risk
from lockgate.model.objects import DaemonSet, Node, Taint
from lockgate.scheduling.selectors import Miss
from lockgate.scheduling.taints import taint_text, toleration_for

_PAUSES: Final = {
    names.PAUSED_FOR_MIG: ("G06", "MIG", names.MIG_CONFIG_STATE),
    names.PAUSED_FOR_DRIVER: ("G07", "driver", names.UPGRADE_STATE),
}


class KeptOff(msgspec.Struct, frozen=True):
    """The catalogue's code, the reason in words, the label that tells it, what to do, and whether a person meant it.

    `progress` is the label that says how far whoever paused it is.
    """

    code: str
    why: str
    key: str
    remedy: Remedy
    is_meant: bool = False
    progress: str = ""


def kept_off(miss: Miss, node: Node) -> KeptOff | None:
    """Why a label of the operator is not as a DaemonSet wants it; None for a label that is not the operator's."""
    if not miss.key.startswith(names.DEPLOY_PREFIX):
        return None
    if miss.seen in _PAUSES:
        return _paused(miss, node)
    if miss.seen is not None:
        return KeptOff(
            "G05", f"the node has {miss.key}={miss.seen}", miss.key, set_label(miss, node), miss.seen == "false"
        )
    if node.metadata.labels.get(names.DEPLOY_OPERANDS) == "false":
        why = f"a person keeps every operand off the node by {names.DEPLOY_OPERANDS}=false"
        return KeptOff("G05", why, names.DEPLOY_OPERANDS, _switch_on(node), is_meant=True)
    return KeptOff("G05", "the label is absent", miss.key, _see_operator(node))


def let_tolerate(taints: Sequence[Taint], daemon_set: DaemonSet) -> Remedy:
    """Let the pods of a DaemonSet tolerate some taints: in the ClusterPolicy if that made it, else in itself."""
    wanted = listed(_toleration(taint) for taint in taints)
    if _is_of_operator(daemon_set):
        text = f"Add the toleration to the ClusterPolicy (spec.daemonsets.tolerations): {wanted}"
        return Remedy(text, "kubectl edit clusterpolicy", Risk.HIGH)
    where = f"DaemonSet {daemon_set.namespace}/{daemon_set.name} (spec.template.spec.tolerations)"
    command = f"kubectl edit daemonset -n {daemon_set.namespace} {daemon_set.name}"
    return Remedy(f"Add the toleration to {where}, or where it was installed from: {wanted}", command, Risk.HIGH)


def set_label(miss: Miss, node: Node) -> Remedy:
    """Give the node the label that a DaemonSet selects, where it selects one value."""
    text = f"Set the label if it is meant to run on {node.name}"
    if miss.wanted.startswith(f"{miss.key}="):
        return Remedy(text, f"kubectl label node {node.name} --overwrite {miss.wanted}", Risk.MEDIUM)
    return Remedy(f"{text} ({miss.wanted})", f"kubectl get node {node.name} --show-labels", Risk.NONE)


def not_tolerated(taints: Sequence[Taint]) -> str:
    """The taints that a DaemonSet does not tolerate, in words."""
    return f"it does not tolerate {listed(map(taint_text, taints))}"


def _toleration(taint: Taint) -> str:
    return f"key {toleration_for(taint).key}, effect {taint.effect}"


def _is_of_operator(daemon_set: DaemonSet) -> bool:
    if any(owner.kind == "ClusterPolicy" for owner in daemon_set.metadata.owner_references):
        return True
    return any(key.startswith(names.DEPLOY_PREFIX) for key in daemon_set.spec.template.spec.node_selector)


def _paused(miss: Miss, node: Node) -> KeptOff:
    code, who, label = _PAUSES[str(miss.seen)]
    text = f"The {who} manager paused it: see its log, and how far it is"
    look = Remedy(text, f"kubectl get node {node.name} -L {label}", Risk.NONE)
    return KeptOff(code, f"the node has {miss.key}={miss.seen}", miss.key, look, progress=label)


def _switch_on(node: Node) -> Remedy:
    return Remedy(
        f"Take the label away if GPU pods are meant to run on {node.name}; the operator then sets the others",
        f"kubectl label node {node.name} {names.DEPLOY_OPERANDS}-",
        Risk.MEDIUM,
    )


def _see_operator(node: Node) -> Remedy:
    return Remedy(
        "The operator has not set the label: see whether it runs and knows the node as a GPU node",
        f"kubectl get pods -A -l app=gpu-operator; kubectl get node {node.name} --show-labels",
        Risk.NONE,
    )
