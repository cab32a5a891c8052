"""GPU pods are older than the driver of their node.

The driver was exchanged under pods that had GPUs. They hold files of the old one: `/proc/driver/nvidia` is empty for
whoever looks, and the operands of the node do not come back.

Why it matters: the operands fail or stay paused until the last such pod is gone; the pods themselves have no GPU.
How to tell: the driver's container started later than the containers of GPU pods on the node.
Fix: drain the node's GPU pods once; the operands then come back by themselves. An operator with a newer driver manager
drains before it exchanges the driver.
"""

import datetime as dt

from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import listed, pod_ref
from lockgate.diagnosis.stage import Stage, is_ready
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.diagnosis.views.stack import NodeStack
from lockgate.diagnosis.views.stacks import Stacks
from lockgate.model import names
from lockgate.model.facts import Missing, Pods
from lockgate.model.finding import Evidence, Severity
from lockgate.model.objects import Node, Pod

# gpu-operator#416.
_MOST = 5


@rule(
    codes=("H16",),
    severity=Severity.ERROR,
    stages=(Stage.NODE,),
    asks_gpu=None,
    mutes=(
        "operands/plugin-not-targeted",
        "operands/left-out",
        "operands/plugin-gone",
        "operands/crashes",
        "operands/init-waits",
        "operator/policy-not-ready",
    ),
)
def stale_after_swap(node: Node, stacks: Stacks, pods: Pods | Missing) -> Failed | None:
    on = stacks.on(node.name)
    driver = on.pod_of("driver")
    since = _started(driver) if driver is not None and is_ready(driver) else None
    if driver is None or since is None or isinstance(pods, Missing) or not _suffers(on):
        return None
    old = [p for p in pods if p.spec.node_name == node.name and _is_older(p, since)]
    if not old:
        return None
    return Failed(
        about=f"node/{node.name}",
        summary=f"{node.name}: {listed(f'{p.namespace}/{p.name}' for p in old)} had GPUs before the driver that runs "
        f"now (since {since:%Y-%m-%d %H:%M}Z), and hold files of the old one.",
        evidence=(
            _seen(driver, since),
            *(_seen(p, began) for p in old[:_MOST] if (began := _started(p))),
            *(
                Evidence(object=f"pod/{s.pod.namespace}/{s.pod.name}", field="status", value="not Ready")
                for s in on.sick
            ),
        ),
        remedy=(drain(node.name, "Drain the node once; what is made anew gets the new driver"),),
    )


def _suffers(on: NodeStack) -> bool:
    """Whether other operands of the node are not well, or are paused for the driver's sake."""
    labels = on.node.metadata.labels if on.node else {}
    paused = any(k.startswith(names.DEPLOY_PREFIX) and v == names.PAUSED_FOR_DRIVER for k, v in labels.items())
    return paused or any(each.operand != "driver" for each in on.sick)


def _started(pod: Pod) -> dt.datetime | None:
    """When the last of its containers began to run."""
    running = (s.state.running.started_at for s in pod.status.container_statuses if s.state.running)
    return max((moment for moment in running if moment is not None), default=None)


def _is_older(pod: Pod, since: dt.datetime) -> bool:
    began = _started(pod)
    return pod.status.phase == "Running" and bool(gpu_asked(pod)) and began is not None and began < since


def _seen(pod: Pod, moment: dt.datetime) -> Evidence:
    return Evidence(
        object=pod_ref(pod), field="status.containerStatuses.state.running.startedAt", value=f"{moment:%FT%TZ}"
    )
