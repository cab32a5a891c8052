"""GPU feature discovery runs on the node, and its labels do not arrive.

It writes a file into a folder of the host, which the worker of node feature discovery reads. SELinux keeps it from
writing, or the worker does not read that folder.

Why it matters: `nvidia.com/mig.capable` is missing, so the MIG manager has DESIRED 0, and pods that select a product
find no node.
How to tell: its pod is ready and the node has neither `nvidia.com/gpu.product` nor `nvidia.com/mig.capable`.
Fix: let it publish through the API instead of a file (`USE_NODE_FEATURE_API=true` in `gfd.env`).
"""

import datetime as dt
import re

from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage, is_ready
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.diagnosis.ways import log_command
from lockgate.model import names
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod

_LABELS = (names.GPU_PRODUCT, names.GPU_COUNT, names.MIG_CAPABLE)
_DENIED = re.compile(r"(?m)^.*(?:permission denied|[Ff]ailed to write|error (?:creating|writing)).*")
# A worker looks every minute.
_PATIENCE = dt.timedelta(minutes=3)


@rule(codes=("G09",), severity=Severity.WARNING, stages=(Stage.NODE,))
def features_not_arriving(
    node: Node, operands: Operands, pod_logs: PodLogs | Missing, snapshot: Snapshot
) -> Failed | Passed | None:
    here = (each.pod for each in operands.on(node.name) if each.operand == "gpu-feature-discovery")
    pod = next((p for p in here if is_ready(p)), None)
    if pod is None or _is_fresh(pod, snapshot.taken_at):
        return None
    there = next((label for label in _LABELS if label in node.metadata.labels), "")
    if there:
        return Passed(f"{node.name} has {there}")
    mig = _mig_manager(operands)
    return Failed(
        about=f"node/{node.name}",
        summary=f"{pod.name} is ready on {node.name}, and the node has none of its labels{_besides(mig)}.",
        evidence=(
            *(Evidence(object=f"node/{node.name}", field=f"metadata.labels[{key}]", value="absent") for key in _LABELS),
            Evidence(object=pod_ref(pod), field="status", value="Ready"),
            *_said(pod, pod_logs),
            *((mig,) if mig else ()),
        ),
        remedy=(
            Remedy(
                "Let it publish through the API",
                'kubectl patch clusterpolicy --type merge -p \'{"spec":{"gfd":{"env":[{"name":"USE_NODE_FEATURE_API",'
                '"value":"true"}]}}}\' NAME',
                Risk.MEDIUM,
            ),
            Remedy(f"See what it says on {node.name}", log_command(pod.namespace, pod.name), Risk.NONE),
        ),
    )


def _besides(mig: Evidence | None) -> str:
    return f"; {mig.note}" if mig else ""


def _is_fresh(pod: Pod, now: dt.datetime | None) -> bool:
    return now is not None and pod.status.start_time is not None and now - pod.status.start_time < _PATIENCE


def _mig_manager(operands: Operands) -> Evidence | None:
    """The MIG manager, where it targets no node for want of the label."""
    for ds in operands.daemon_sets:
        if "mig-manager" in ds.name and not ds.status.desired_number_scheduled:
            place, note = f"daemonset/{ds.namespace}/{ds.name}", "the MIG manager targets no node"
            return Evidence(object=place, field="status.desiredNumberScheduled", value="0", note=note)
    return None


def _said(pod: Pod, logs: PodLogs | Missing) -> tuple[Evidence, ...]:
    for log in () if isinstance(logs, Missing) else logs.of(pod.namespace, pod.name):
        if match := _DENIED.search(log.text):
            return (Evidence(object=f"log of {log.pod}/{log.container}", verbatim=match[0].strip()[:500]),)
    return ()
