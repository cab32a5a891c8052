"""An operand has no node to run on, and no node is known to have a GPU.

Its DaemonSet wants no pod: every node lacks the label that it selects, or has a taint that it does not tolerate.

Why it matters: "0 of 0 ready" reads like health. It is right in a cluster whose GPU pools stand at 0 nodes, and a fault
where a GPU node is there without its cloud's or discovery's label.
How to tell: DESIRED is 0; the selector of the template, set beside the labels of the nodes, says why.
Fix: give the GPU node the label (on GKE `cloud.google.com/gke-accelerator`), or let discovery run on it.
"""

from lockgate.diagnosis.operand_names import short_name
from lockgate.diagnosis.out_of_reach import nearest, seen, why
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.places import Places
from lockgate.model.facts import Pods
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import DaemonSet


@rule(codes=("B11", "G01"), severity=Severity.WARNING, stages=(Stage.OPERAND,), asks_gpu=None)
def operand_without_node(operand: DaemonSet, places: Places, operands: Operands, demand: Pods) -> Failed | None:
    name = short_name(operand) or operand.name
    if places.with_gpus or any(ds.status.desired_number_scheduled for ds in operands.called(name)):
        return None
    told = nearest(operand, places.all)
    if told is None:
        return None
    place = f"daemonset/{operand.namespace}/{operand.name}"
    return Failed(
        about=place,
        codes=("B11",) if told.lacks_cloud_label else ("G01",),
        severity=None if demand else Severity.INFO,
        summary=f"{name}: DESIRED 0, and no node is known to have a GPU: {why(told.target)}.",
        evidence=(
            Evidence(object=place, field="status.desiredNumberScheduled", value="0"),
            *seen(told.target),
        ),
        remedy=(Remedy("Compare the nodes' labels and taints with it", "kubectl get nodes --show-labels", Risk.NONE),),
    )
