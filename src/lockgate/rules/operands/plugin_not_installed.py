"""No device plugin is installed.

There are nodes with GPUs, and no DaemonSet that would register them with the kubelet.

Why it matters: without a plugin `nvidia.com/gpu` does not exist, and the scheduler says `Insufficient
nvidia.com/gpu`.
How to tell: `kubectl get ds -A` has no DaemonSet of a device plugin.
Fix: install a GPU operator, or let the ClusterPolicy enable the device plugin.
"""

from lockgate.diagnosis.device_plugins import switches_off
from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.rule import Failed, on_each, rule
from lockgate.diagnosis.seen import gate_row
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.claims import offered_on
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.plugin import Plugin
from lockgate.kit.counted import counted
from lockgate.model.facts import ClusterPolicies, Missing, ResourceSlices
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod


@rule(
    codes=("I06",),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING, Stage.ADMISSION, Stage.NODE),
    mutes=("operands/plugin-gone", "kubelet/refused", "operator/policy-not-ready"),
)
def plugin_not_installed(
    pod: Pod,
    gate_one: GateOne,
    plugin: Plugin,
    cluster_policies: ClusterPolicies | Missing,
    resource_slices: ResourceSlices | Missing,
) -> Failed | None:
    rows = gate_one.nearest_with(Obstacle.NO_RESOURCE, Obstacle.GONE)
    # A node whose GPUs are offered to claims needs no plugin.
    rows = tuple(row for row in rows if not offered_on(resource_slices, row.node))
    if plugin.daemon_sets or not rows or any(row.others for row in rows):
        return None
    return on_each([_failed(gate_one, row, cluster_policies) for row in rows])


def _failed(gate: GateOne, row: GateRow, known: ClusterPolicies | Missing) -> Failed:
    policies = () if isinstance(known, Missing) else known
    switched_off = [p for p in policies if switches_off(p)]
    why = "the ClusterPolicy switches it off" if switched_off else _operators(known)
    return Failed(
        about=f"node/{row.node}",
        summary=f"{row.node}: GPUs are there, and no DaemonSet runs a device plugin; {why}.",
        nodes=(row.node,),
        evidence=(
            *(
                Evidence(object=f"clusterpolicy/{p.name}", field="spec.devicePlugin.enabled", value="false")
                for p in switched_off
            ),
            *(
                Evidence(object=f"clusterpolicy/{p.name}", field="status.state", value=p.status.state or "none")
                for p in policies
                if p not in switched_off
            ),
            gate_row(gate, row),
        ),
        remedy=(
            Remedy(
                "See whether an operator is there and what it says",
                "kubectl get clusterpolicies; kubectl get ds -A",
                Risk.NONE,
            ),
        ),
    )


def _operators(policies: ClusterPolicies | Missing) -> str:
    """Whether an operator is asked to make one, as far as that is known."""
    if isinstance(policies, Missing) and policies.unserved:
        return "the cluster serves no ClusterPolicy"
    if isinstance(policies, Missing):
        return f"whether a ClusterPolicy asks for one is not known ({policies.reason})"
    return counted(len(policies), "ClusterPolicy object exists", "ClusterPolicy objects exist")
