"""Preemption under way: the pods that the scheduler ended to make room for a pod, and that are not gone yet.

It sets `status.nominatedNodeName` of the pod, ends its victims, and tries again when they are gone; meanwhile the pod
waits and its event speaks of the node as it is. A victim that is long over its time of grace is no such wait.
"""

import datetime as dt
from typing import Final

from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.model.facts import Missing, Pods
from lockgate.model.objects import Pod

_STUCK: Final = dt.timedelta(minutes=2)  # after the time of grace, at which the kubelet kills


def giving_way(pod: Pod, gate: GateOne, pods: Pods | Missing, now: dt.datetime | None) -> tuple[Pod, ...]:
    """The victims on the nominated node, where their going makes room for the pod; none where nothing is under way."""
    row = next((r for r in gate.rows if r.node == pod.status.nominated_node_name), None)
    if row is None or row.requested is None or not row.only_devices_short() or isinstance(pods, Missing):
        return ()
    going = {h.pod: h.count for h in row.holders if h.terminating}
    if row.allocatable - row.requested + sum(going.values()) < gate.asked:
        return ()
    victims = tuple(p for p in pods if p.spec.node_name == row.node and f"{p.namespace}/{p.name}" in going)
    return () if any(is_stuck(victim, now) for victim in victims) else victims


def is_stuck(pod: Pod, now: dt.datetime | None) -> bool:
    """Whether it should be gone for long: its `deletionTimestamp` is the end of its time of grace."""
    due = pod.metadata.deletion_timestamp
    return due is not None and now is not None and now - due > _STUCK
