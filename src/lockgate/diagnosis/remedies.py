"""Remedies that many rules give: the same act has the same command and the same risk everywhere."""

from lockgate.diagnosis.views.plugin import Plugin
from lockgate.model.facts import Missing
from lockgate.model.finding import Remedy, Risk
from lockgate.model.objects import Taint
from lockgate.scheduling.taints import toleration_for

_TOOLKIT = "-A -l app=nvidia-container-toolkit-daemonset --field-selector spec.nodeName="


def drain(node: str, text: str = "Drain the node and reboot it") -> Remedy:
    """Drain a node; `text` says what it is for, and what comes after it.

    Without `--delete-emptydir-data`: kubectl names the pods that would lose data, and the person decides.
    """
    return Remedy(text, f"kubectl drain {node} --ignore-daemonsets", Risk.HIGH)


def drain_and_reset(node: str, gpu: str) -> tuple[Remedy, ...]:
    """Drain a node and reset one of its GPUs; `gpu` as nvidia-smi's `-i` takes it."""
    return (
        drain(node, f"Drain {node}, so that nothing uses the GPU"),
        Remedy(f"Then reset the GPU on {node}, or reboot the node", f"nvidia-smi --gpu-reset -i {gpu}", Risk.HIGH),
    )


def tolerate(taint: Taint) -> Remedy:
    """Let the pod tolerate a taint, as narrowly as can be."""
    wanted = toleration_for(taint)
    value = f", value: {wanted.value}" if wanted.value else ""
    effect = f", effect: {wanted.effect}" if wanted.effect else ""
    added = f"{{key: {wanted.key}, operator: {wanted.operator}{value}{effect}}}"
    return Remedy(f"Add to the pod's spec.tolerations: {added}", "", Risk.LOW)


def read_plugin_log(node: str, plugin: Plugin | Missing) -> Remedy:
    """Read what the device plugin of a node says; where its pod is not known the command finds it."""
    pod = _plugin_pod(node, plugin)
    if not pod:
        return Remedy(f"Find the device plugin's pod on {node}: its log tells", find_plugin(node), Risk.NONE)
    return Remedy(
        f"Read the device plugin's log on {node}", f"kubectl logs {pod} --all-containers --tail=100", Risk.NONE
    )


def restart_plugin(node: str, plugin: Plugin | Missing, text: str) -> Remedy:
    """Start the device plugin of a node anew; `text` says what for. Where its pod is not known the command finds it."""
    pod = _plugin_pod(node, plugin)
    if not pod:
        return Remedy(f"{text}; this finds its pod", find_plugin(node), Risk.MEDIUM)
    return Remedy(text, f"kubectl delete pod {pod}", Risk.MEDIUM)


def see_toolkit(node: str, text: str) -> Remedy:
    """See the container toolkit's pod on a node, in whichever namespace it is."""
    return Remedy(text, f"kubectl get pods -o wide {_TOOLKIT}{node}", Risk.NONE)


def restart_toolkit(node: str, text: str, risk: Risk) -> Remedy:
    """Start the container toolkit of a node anew; `text` says what for."""
    return Remedy(text, f"kubectl delete pod {_TOOLKIT}{node}", risk)


def _plugin_pod(node: str, plugin: Plugin | Missing) -> str:
    """The plugin's pod on a node as arguments of kubectl."""
    namespace, _, name = ("" if isinstance(plugin, Missing) else plugin.on(node).pod).partition("/")
    return f"-n {namespace} {name}" if name else ""


def find_plugin(node: str) -> str:
    """The command that finds the device plugin's pod on a node, whoever installed it."""
    return f"kubectl get pods -A -o wide --field-selector spec.nodeName={node} | grep device-plugin"
