"""Pods that should be gone and that a finalizer keeps: which they are, and what they take from others meanwhile.

The scheduler's cache leaves out pods whose phase is Succeeded or Failed, and no others; the kubelet gives devices to
others once no container of the pod can run any more (Kubernetes 1.37: pkg/scheduler, pkg/kubelet/kubelet_pods.go).
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from lockgate.diagnosis.finalizers import by_hand, keeper, look_at
from lockgate.diagnosis.giving_way import is_stuck
from lockgate.diagnosis.rule import Failed
from lockgate.diagnosis.seen import listed, pod_ref
from lockgate.diagnosis.stage import statuses
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.kit.counted import agreeing, counted
from lockgate.model.finding import Evidence, Remedy, Risk
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.node_fit import is_terminal
from lockgate.scheduling.requests import accounted_requests

_RUNS: Final = "A pod stays in Terminating: its containers still run"
_MOST: Final = 3  # pods, told one by one
_HOUR: Final = dt.timedelta(hours=1)
_MINUTE: Final = dt.timedelta(minutes=1)


def is_held(pod: Pod, now: dt.datetime | None) -> bool:
    """Whether its time of grace is over for minutes, and a finalizer is on it."""
    return bool(pod.metadata.finalizers) and is_stuck(pod, now)


def told(about: str, pods: Sequence[Pod], now: dt.datetime | None, nodes: Mapping[str, Node]) -> Failed:
    """What is to be said of such pods, all of one node where `about` is that."""
    kind, _, name = about.partition("/")
    place = f"{name}: " if kind == "node" else ""
    more = f" And {counted(len(pods) - _MOST, 'more pod')}." if len(pods) > _MOST else ""
    return Failed(
        about=about,
        summary=place + " ".join(_told(pod, now, nodes) for pod in pods[:_MOST]) + more,
        evidence=tuple(e for pod in pods[:_MOST] for e in _seen(pod)),
        title=_RUNS if all(map(_running, pods)) else "",
        remedy=(_not_ended(pods[0]), *look_at(pods[0])) if _running(pods[0]) else (*look_at(pods[0]), by_hand(pods[0])),
    )


def _told(pod: Pod, now: dt.datetime | None, nodes: Mapping[str, Node]) -> str:
    why = "; ".join(f"{name} keeps it: {keeper(name)}" for name in pod.metadata.finalizers)
    return f"{pod.namespace}/{pod.name} should be gone{_for(pod, now)}. {why}. {_holds(pod, nodes)}"


def _for(pod: Pod, now: dt.datetime | None) -> str:
    due = pod.metadata.deletion_timestamp
    if due is None or now is None:
        return ""
    late = now - due
    return f" for {counted(late // _MINUTE, 'minute') if late < 2 * _HOUR else counted(late // _HOUR, 'hour')}"


def _holds(pod: Pod, nodes: Mapping[str, Node]) -> str:
    """What it takes from others: of the kubelet's devices, and of what the scheduler counts."""
    node, gpus, running = pod.spec.node_name, _gpus(pod), _running(pod)
    if not node:
        return "It has no node, and holds nothing."
    if is_terminal(pod):
        return f"Its phase is {pod.status.phase}: neither {node}'s kubelet nor the scheduler counts {gpus} any more."
    if running:
        runs = f"{agreeing(len(running), 'Container')} {listed(running)} still {agreeing(len(running), 'runs', 'run')}"
        return f"{runs} on {node}, for another reason: {gpus} in use, and counted by the scheduler."
    if nodes and node not in nodes:
        return f"Its node {node} is gone, and with it {gpus}."
    if not statuses(pod):
        return f"What its containers do is not shown; the scheduler counts {gpus} on {node} until it is gone."
    return f"No container of it runs: {node}'s kubelet has {gpus} back, and the scheduler counts them until it is gone."


def _gpus(pod: Pod) -> str:
    resource = gpu_asked(pod)
    return f"{accounted_requests(pod)[resource]} {resource}" if resource else "what it asks for"


def _running(pod: Pod) -> list[str]:
    return [s.name for s in statuses(pod) if s.state.running]


def _not_ended(pod: Pod) -> Remedy:
    text = f"See why {pod.spec.node_name}'s kubelet does not end its containers"
    return Remedy(text, f"kubectl describe pod -n {pod.namespace} {pod.name}", Risk.NONE)


def _seen(pod: Pod) -> Iterable[Evidence]:
    place, due = pod_ref(pod), pod.metadata.deletion_timestamp
    moment = f"{due:%Y-%m-%d %H:%M:%S} UTC" if due else ""
    yield Evidence(object=place, field="metadata.deletionTimestamp", value=moment, note="the end of its time of grace")
    yield Evidence(object=place, field="metadata.finalizers", value=", ".join(pod.metadata.finalizers))
    for status in statuses(pod):
        ended = status.state.terminated
        if ended or status.state.running:
            value = f"ended, exit code {ended.exit_code}" if ended else "running"
            yield Evidence(object=place, field=f"status.containerStatuses[{status.name}].state", value=value)
