"""The device plugin on each node: is there a DaemonSet of it, does it target the node, does its pod run there?"""

import datetime as dt
import enum
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from lockgate.diagnosis.device_plugins import is_plugin, named_plugin
from lockgate.diagnosis.stage import is_ready, statuses
from lockgate.diagnosis.views.pod_kinds import PodKinds
from lockgate.model import names
from lockgate.model.facts import DaemonSets, Missing, Nodes, Pods
from lockgate.model.objects import DaemonSet, Node, Pod, Taint
from lockgate.model.pod_state import is_failing
from lockgate.scheduling.daemonsets import target
from lockgate.scheduling.selectors import Miss

# The label by which the operator's DaemonSet chooses its nodes.
_LABEL: Final = f"{names.DEPLOY_PREFIX}device-plugin"
_Running = Mapping[tuple[str, str, str], Pod]  # (namespace, DaemonSet, node) -> its pod there


class PluginState(enum.StrEnum):
    """What became of the device plugin on one node."""

    NOT_INSTALLED = "not-installed"  # no DaemonSet of it exists
    NOT_TARGETED = "not-targeted"  # a label or a taint keeps its DaemonSet off the node
    NO_POD = "no-pod"  # targeted, and there is no pod
    NOT_READY = "not-ready"  # a pod is there and does not serve
    RUNNING = "running"
    UNKNOWN = "unknown"  # the pods are not known


class PluginOn(msgspec.Struct, frozen=True, kw_only=True):
    """The device plugin on one node; `why_not` is what its pod waits for, or how it ended, in the kubelet's words.

    `starting_since` is when its pod was made, where no container of it has failed and the first is still to run.
    """

    node: str
    state: PluginState
    daemon_set: str = ""  # namespace/name
    desired: int = 0
    misses: tuple[Miss, ...] = ()
    taints: tuple[Taint, ...] = ()
    pod: str = ""  # namespace/name
    why_not: str = ""
    starting_since: dt.datetime | None = None
    besides: tuple[str, ...] = ()  # DaemonSets of other plugins that reach the node too


class Plugin(msgspec.Struct, frozen=True):
    """The device plugin of the whole cluster."""

    daemon_sets: DaemonSets
    rows: dict[str, PluginOn]

    def on(self, node: str) -> PluginOn:
        """The plugin on a node; a node that is not among the facts has an unknown one."""
        return self.rows.get(node) or PluginOn(node=node, state=PluginState.UNKNOWN)


def plugin_on(known: Plugin | Missing, node: Node) -> PluginOn:
    """The plugin on a node; where no DaemonSet is known, what the operator's label and the node's description tell."""
    if not isinstance(known, Missing):
        return known.on(node.name)
    pod, labels = named_plugin(node), node.metadata.labels
    seen = labels.get(_LABEL)
    off = labels.get(names.DEPLOY_OPERANDS) == "false" if seen is None else seen != "true"
    if off and not pod:
        miss = Miss(key=_LABEL, wanted=f"{_LABEL}=true", seen=seen)
        return PluginOn(node=node.name, state=PluginState.NOT_TARGETED, misses=(miss,))
    return PluginOn(node=node.name, state=PluginState.UNKNOWN)


def plugin(
    daemon_sets: DaemonSets,
    nodes: Nodes,
    pods: Pods | Missing,
    namespace_pods: Pods | Missing,
    pod_kinds: PodKinds,
) -> Plugin:
    """Judge the device plugin on every node, by all pods or else by those of its own namespace."""
    own = tuple(ds for ds in daemon_sets if is_plugin(ds))
    near = namespace_pods if isinstance(pods, Missing) and _are_in(namespace_pods, own) else pods
    running = None if isinstance(near, Missing) else _by_owner_and_node(pod_kinds.of(_is_of_daemon_set), own)
    return Plugin(own, {node.name: _on(node, own, running) for node in nodes})


def _are_in(pods: Pods | Missing, own: DaemonSets) -> bool:
    """Whether pods of a plugin's namespace are known at all."""
    return not isinstance(pods, Missing) and bool({p.namespace for p in pods} & {ds.namespace for ds in own})


def _is_of_daemon_set(pod: Pod) -> bool:
    return any(reference.kind == "DaemonSet" for reference in pod.metadata.owner_references)


def _by_owner_and_node(pods: Iterable[Pod], own: DaemonSets) -> _Running:
    """A pod that failed speaks only where no newer one has taken its place."""
    namespaces = {ds.namespace for ds in own}
    owned = ((pod, r) for pod in pods if pod.namespace in namespaces for r in pod.metadata.owner_references)
    found: dict[tuple[str, str, str], Pod] = {}
    for pod, reference in owned:
        if reference.kind == "DaemonSet" and pod.spec.node_name:
            place = pod.namespace, reference.name, pod.spec.node_name
            if place not in found or pod.status.phase != "Failed":
                found[place] = pod
    return found


def _on(node: Node, own: DaemonSets, pods: _Running | None) -> PluginOn:
    """The DaemonSet that reaches the node speaks for it; failing that, the one that misses it by least."""
    judged = [_one(node, ds, pods) for ds in own]
    reaching = [j for j in judged if j.state is not PluginState.NOT_TARGETED]
    if reaching:
        return msgspec.structs.replace(reaching[0], besides=tuple(j.daemon_set for j in reaching[1:]))
    nearest = min(judged, key=lambda j: len(j.misses) + len(j.taints), default=None)
    return nearest or PluginOn(node=node.name, state=PluginState.NOT_INSTALLED)


def _one(node: Node, ds: DaemonSet, pods: _Running | None) -> PluginOn:
    name = f"{ds.namespace}/{ds.name}"
    desired = ds.status.desired_number_scheduled
    judged = target(ds, node)
    if not judged.runs:
        return PluginOn(
            node=node.name,
            state=PluginState.NOT_TARGETED,
            daemon_set=name,
            desired=desired,
            misses=judged.misses,
            taints=judged.taints,
        )
    if pods is None:
        return PluginOn(node=node.name, state=PluginState.UNKNOWN, daemon_set=name, desired=desired)
    return _with_pod(node, ds, name, pods)


def _with_pod(node: Node, ds: DaemonSet, name: str, pods: _Running) -> PluginOn:
    desired = ds.status.desired_number_scheduled
    pod = pods.get((ds.namespace, ds.name, node.name))
    if pod is None:
        return PluginOn(node=node.name, state=PluginState.NO_POD, daemon_set=name, desired=desired)
    state = PluginState.RUNNING if is_ready(pod) else PluginState.NOT_READY
    return PluginOn(
        node=node.name,
        state=state,
        daemon_set=name,
        desired=desired,
        pod=f"{pod.namespace}/{pod.name}",
        why_not="" if state is PluginState.RUNNING else _why_not(pod),
        starting_since=pod.metadata.creation_timestamp if _is_being_made(pod) else None,
    )


def _is_being_made(pod: Pod) -> bool:
    fresh = pod.status.phase == "Pending" and pod.metadata.deletion_timestamp is None
    return fresh and not is_failing(pod) and not any(status.restart_count for status in statuses(pod))


def _why_not(pod: Pod) -> str:
    """The first container that does not run, in the words of its state."""
    if pod.metadata.deletion_timestamp is not None:
        return "terminating"
    for status in statuses(pod):
        if status.state.waiting:
            return _words(status.name, status.state.waiting.reason, status.state.waiting.message)
        if status.state.terminated and status.state.terminated.exit_code:
            ended = status.state.terminated
            return _words(status.name, ended.reason, ended.message or f"exit code {ended.exit_code}")
    running_init = next((s.name for s in pod.status.init_container_statuses if s.state.running), "")
    if running_init:
        return f"init container {running_init} is still running"
    return pod.status.message or pod.status.reason or f"phase {pod.status.phase or 'unknown'}, not ready"


def _words(container: str, reason: str, message: str) -> str:
    return f"container {container}: {reason or 'not running'}" + (f": {message}" if message else "")
