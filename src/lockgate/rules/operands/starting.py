"""The GPU stack of the node is still starting.

After a node was made or booted, driver, container toolkit, device plugin and validator start one after the other. A
driver's container that compiles modules for the kernel takes minutes; until all are done the node has no GPU to give.

Why it matters: meanwhile everything looks broken: pods in Init, no handler of the runtime, no `nvidia.com/gpu`, a
ClusterPolicy that is not ready. None of it is a fault yet, and it passes by itself.
How to tell: the first operand in the order that is not ready could begin less than five minutes ago (a driver: ten
minutes), and no container of theirs has crashed since the node booted. A handler that the runtime lacks a minute after
driver and toolkit were done is no start.
Fix: wait and look again. What takes longer is told as an error by what it is.
"""

import datetime as dt
from typing import Final

from lockgate.diagnosis.followers import WITHOUT_PODS
from lockgate.diagnosis.node_start import CHAIN, Start, is_handler_due, start_of
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import event, listed, pod_ref
from lockgate.diagnosis.stage import Stage, is_ready
from lockgate.diagnosis.views.events_by_object import EventsByObject
from lockgate.diagnosis.views.operands import Operands
from lockgate.kit.counted import agreeing, counted
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node
from lockgate.model.pod_state import trouble

_MINUTE: Final = dt.timedelta(minutes=1)


@rule(
    codes=("I01",),
    severity=Severity.WARNING,
    stages=(Stage.NODE,),
    asks_gpu=None,
    mutes=(
        *WITHOUT_PODS,
        "operands/dcgm-without-driver",
        "operands/plugin-idle",
        "operands/resources-not-seen",
        "containerd/handler-missing",
        "driver/module-not-loaded",
        "driver/not-answering",
        "injection/driver-not-loaded",
        "autoscaling/node-not-initialized",
    ),
)
def starting(
    node: Node, operands: Operands, events_by_object: EventsByObject | Missing, snapshot: Snapshot
) -> Failed | None:
    here = operands.on(node.name)
    start = start_of(node, here, snapshot.taken_at)
    if start is None or snapshot.taken_at is None:
        return None
    return Failed(
        about=f"node/{node.name}",
        title="" if start.operand in CHAIN else "An operand beside the way to a GPU is still starting",
        summary=_summary(node, start, snapshot.taken_at),
        evidence=(_seen(start), *_booted(node, events_by_object)),
        passing=True,
        spares=("containerd/handler-missing",) if is_handler_due(here, snapshot.taken_at) else (),
        remedy=(
            Remedy(
                f"Wait, and watch the operands of {node.name}",
                f"kubectl get pods -n {start.pod.namespace} -o wide --field-selector spec.nodeName={node.name} -w",
                Risk.NONE,
            ),
            Remedy("Look again when that time is over", f"kubectl gpu why node/{node.name}", Risk.NONE),
        ),
    )


def _summary(node: Node, start: Start, now: dt.datetime) -> str:
    lasted = "less than a minute" if now - start.since < _MINUTE else _minutes(now - start.since)
    after = f"; {listed(start.after)} {agreeing(len(start.after), 'comes', 'come')} after it" if start.after else ""
    doing = "ready" if is_ready(start.pod) else "starting"
    then = ", and the node does not offer its GPUs yet" if is_ready(start.pod) else after
    most = f"this may take {_minutes(start.longest)}"
    return f"{node.name}: {start.operand} has been {doing} for {lasted}{then}. Nothing has failed; {most}."


def _minutes(span: dt.timedelta) -> str:
    return counted(span // _MINUTE, "minute")


def _seen(start: Start) -> Evidence:
    value = "Ready" if is_ready(start.pod) else "not Ready"
    doing = "" if is_ready(start.pod) else f"{trouble(start.pod)}, "
    since = f"{doing}since {start.since:%Y-%m-%d %H:%M:%S} UTC"
    return Evidence(object=pod_ref(start.pod), field="status", value=value, note=since)


def _booted(node: Node, events: EventsByObject | Missing) -> tuple[Evidence, ...]:
    """When the node became ready, and the kubelet's word of a reboot."""
    known = () if isinstance(events, Missing) else events.of("Node", node)
    place = f"node/{node.name}"
    ready = (c for c in node.status.conditions if c.type == "Ready" and c.last_transition_time)
    told = (e for e in known if e.reason == "Rebooted")
    return (
        *(
            Evidence(
                object=place,
                field="status.conditions[Ready].lastTransitionTime",
                value=f"{c.last_transition_time:%Y-%m-%d %H:%M:%S} UTC",
            )
            for c in ready
        ),
        *map(event, told),
    )
