"""The pod was started again before the device plugin had registered, and has no GPU since.

After the node reboots the kubelet starts the pods that were there. If it has lost its record of devices (the checkpoint
under /var/lib/kubelet/device-plugins), and the plugin is not there yet, it does not know the resource and starts them
without a device.

Why it matters: the pod is Running, its limits are set, its node has free GPUs, and the program finds none.
How to tell: the containers began after the node's event Rebooted and before the device plugin's did.
Fix: delete the pod, so that it is placed anew. A startup taint that the device plugin's validation removes keeps pods
off the node until it is ready.
"""

import datetime as dt

from lockgate.diagnosis.absent_driver import absent_driver
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import event, pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.words import Words
from lockgate.model.facts import Events, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Event, Pod

_PLUGIN = "device-plugin"


@rule(
    codes=("D12",),
    severity=Severity.ERROR,
    stages=(Stage.RUNNING, Stage.FAILED),
    mutes=("gpu-use/not-injected", "pod/container-failed"),
)
def started_before_plugin(
    pod: Pod, words: Words, operands: Operands | Missing, events: Events | Missing
) -> Failed | None:
    missed = absent_driver(words)
    if missed is None or isinstance(operands, Missing):
        return None
    plugins = [p.pod for p in operands.on(pod.spec.node_name) if p.operand == _PLUGIN]
    began, served = _began(pod), max((b for p in plugins if (b := _began(p))), default=None)
    reboot = _rebooted(pod.spec.node_name, () if isinstance(events, Missing) else events)
    if began is None or served is None or reboot is None or not (_at(reboot) <= began < served):
        return None
    return Failed(
        about=pod_ref(pod),
        summary=(
            f"{pod.spec.node_name} was rebooted; its containers began at {began:%H:%M:%S}, the device plugin at "
            f"{served:%H:%M:%S}."
        ),
        evidence=(
            event(reboot),
            Evidence(object=pod_ref(pod), field="status.containerStatuses.state.running.startedAt", value=str(began)),
            Evidence(
                object=pod_ref(plugins[0]), field="status.containerStatuses.state.running.startedAt", value=str(served)
            ),
            missed[1].evidence,
        ),
        remedy=(
            Remedy(
                "Delete the pod, so that it is placed anew and gets a device",
                f"kubectl delete pod -n {pod.namespace} {pod.name}",
                Risk.LOW,
            ),
        ),
    )


def _began(pod: Pod) -> dt.datetime | None:
    """When its containers that run now were started, the latest of them."""
    running = (s.state.running for s in pod.status.container_statuses)
    return max((r.started_at for r in running if r and r.started_at), default=None)


def _rebooted(node: str, events: Events) -> Event | None:
    """The node's newest reboot, by the kubelet's event."""
    own = (e for e in events if e.reason == "Rebooted" and e.about.kind == "Node" and e.about.name == node)
    return max((e for e in own if e.last_seen), key=_at, default=None)


def _at(seen: Event) -> dt.datetime:
    return seen.last_seen or dt.datetime.min.replace(tzinfo=dt.UTC)
