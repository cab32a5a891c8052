"""The MIG layout that a node asks for could not be applied.

The MIG manager writes how it went into the label `nvidia.com/mig.config.state`. After `failed` it tries again only when
`nvidia.com/mig.config` changes.

Why it matters: the node keeps its old layout, or what is left of it, so pods that ask for the new devices wait; with
the strategy `single` the device plugin may offer nothing at all.
How to tell: `nvidia.com/mig.config.state=failed` on the node. Why it failed only the MIG manager's log says.
Fix: read that log; once its cause is mended, set the label anew.
"""

from lockgate.diagnosis.followers import PAUSED
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import log_lines
from lockgate.diagnosis.stage import Stage, is_ready
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.pod_logs import PodLogs
from lockgate.diagnosis.views.stacks import Stacks
from lockgate.diagnosis.ways import log_command
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod

_FAILED = "failed"  # mig-parted deployments/container/reconfigure-mig.sh


@rule(
    codes=("I10", "I11", "I12"),
    severity=Severity.ERROR,
    stages=(Stage.NODE,),
    asks_gpu=None,
    mutes=("operands/plugin-gone", "devices/mig-layout-invalid", *PAUSED),
)
def config_failed(node: Node, operands: Operands, stacks: Stacks, pod_logs: PodLogs | Missing) -> Failed | None:
    labels = node.metadata.labels
    if labels.get(names.MIG_CONFIG_STATE) != _FAILED:
        return None
    wanted = labels.get(names.MIG_CONFIG, "")
    manager = operands.pod_on(node.name, "mig-manager")
    said = log_lines(f"{manager.namespace}/{manager.name}", pod_logs) if manager else ()
    plugin = operands.pod_on(node.name, "device-plugin")
    offers = stacks.on(node.name).advertises
    return Failed(
        about=f"node/{node.name}",
        severity=Severity.WARNING if offers else None,
        summary=f"{node.name}: the MIG manager could not apply {wanted or 'the layout that was asked for'}, and "
        f"{'the node offers what it had before' if offers else 'the node offers no GPU'}. "
        f"{'Its log is quoted.' if said else 'Its log, which decides, is not among what was read.'}",
        nodes=(node.name,),
        evidence=(
            _label(node, names.MIG_CONFIG_STATE),
            *((_label(node, names.MIG_CONFIG),) if wanted else ()),
            *said,
        ),
        remedy=_remedies(node, wanted, manager),
        # A plugin that does not run may have a reason of its own.
        spares=() if plugin and is_ready(plugin) else ("operands/plugin-gone",),
    )


def _label(node: Node, name: str) -> Evidence:
    return Evidence(object=f"node/{node.name}", field=f"metadata.labels[{name}]", value=node.metadata.labels[name])


def _remedies(node: Node, wanted: str, manager: Pod | None) -> tuple[Remedy, ...]:
    label = f"kubectl label node {node.name} {names.MIG_CONFIG}"
    return (
        _read(node, manager),
        Remedy("Once the cause is mended, ask for the layout anew", f"{label}-; {label}={wanted or 'NAME'}", Risk.HIGH),
    )


def _read(node: Node, manager: Pod | None) -> Remedy:
    if manager is None:
        text = f"Find the MIG manager's pod on {node.name}: its log says why it failed"
        find = f"kubectl get pods -A -o wide --field-selector spec.nodeName={node.name} | grep mig-manager"
        return Remedy(text, find, Risk.NONE)
    log = log_command(manager.namespace, manager.name, lines=100)
    return Remedy(f"Read why the MIG manager on {node.name} failed: the first error counts", log, Risk.NONE)
