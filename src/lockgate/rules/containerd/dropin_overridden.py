"""A configuration file defines the handler, and another one takes it away again.

Before containerd 2.0 the file that is read last replaces a plugin's table whole. A drop-in of three lines about a
registry is enough to remove every runtime that another drop-in defines.

Why it matters: each file looks right when it is read alone, and `containerd config dump` shows a plausible runc.
How to tell: two of the files that are read have the same plugin table, and the handler stands in the earlier one.
`kubectl gpu effective` shows what is left and which file won.
Fix: put both into one file, or repeat the whole table in the file that is read last, or use containerd 2.
"""

import msgspec

from lockgate.containerd.effective import Effective
from lockgate.containerd.load import ConfigError
from lockgate.containerd.traps import Loss, LostHandler
from lockgate.containerd.values import Origin
from lockgate.diagnosis.remedies import restart_toolkit
from lockgate.diagnosis.rule import Failed, Passed, Skipped, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_two import GateTwo, NodeGate
from lockgate.diagnosis.views.handler import NeededHandler, sandbox_image_lost
from lockgate.diagnosis.ways import UNSEEN, read_node
from lockgate.model.facts import Events, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Node, Pod

_TOOLKITS_DROPIN = "/99-nvidia.toml"  # NVIDIA's name, and ours
_CODES = {
    Loss.TABLE_REPLACED: ("E02",),
    Loss.NAME_NOT_READ: ("E08",),
    Loss.PLUGIN_DISABLED: ("E06",),
    Loss.FILE_NOT_LOADED: ("E04",),
}
_TITLES = {
    Loss.TABLE_REPLACED: "A later containerd file overrides the one with the handler",
    Loss.NAME_NOT_READ: "containerd does not read the section that defines the handler",
    Loss.PLUGIN_DISABLED: "containerd's CRI plugin is switched off",
    Loss.FILE_NOT_LOADED: "containerd does not import the file that defines the handler",
}


@rule(
    codes=("E02", "E04", "E06", "E08"),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.NODE),
    asks_gpu=None,
    mutes=(
        "containerd/handler-missing",
        "containerd/runc-lost",
        "nodes/default-handler-gone",
        "containerd/sandbox-image",
        "operands/crashes",
        "operands/init-waits",
        "operator/policy-not-ready",
    ),
    runtime="containerd",
)
def dropin_overridden(
    pod: Pod, gate_two: GateTwo, handler: NeededHandler, pod_events: Events | Missing, node: Node | Missing
) -> Failed | Passed | Skipped | None:
    gate = gate_two.on(pod.spec.node_name)
    fine = gate.loaded is not None and handler.name in gate.loaded.names and handler.refused is None
    # The same table holds the sandbox image: with it lost, a node without a registry fails even before the handler.
    if sandbox_image_lost(pod_events):
        return _any_lost(gate)
    if not handler.name or (fine and isinstance(node, Missing)):
        return None
    if handler.refused is not None and gate.is_stale(handler.name):
        why = f"what {gate.name} published is older than the kubelet's refusal"
        return Skipped(why, "ask again in a minute, when its agent has looked", decides=False)
    if gate.effective is None and gate.is_unread and not isinstance(node, Missing):
        return None  # told once for all rules about the node
    if gate.effective is None:
        # What the kubelet says decides the verdict; the files only say why.
        unknown = UNSEEN if gate.is_unread else f"the containerd files of {gate.name} are not known"
        return Skipped(unknown, read_node(gate.name), decides=False)
    if isinstance(gate.effective, ConfigError):
        return _refused(gate, gate.effective)
    lost = next((one for one in gate.lost if one.name == handler.name), None)
    if lost is None:
        return Passed(f"no file of {gate.name} defines a runtime {handler.name} in vain")
    failed = _failed(gate, gate.effective, lost)
    return _not_yet(failed) if fine else failed


def _not_yet(failed: Failed) -> Failed:
    """The files have lost the handler, and the process still has it."""
    summary = f"{failed.summary} It is still loaded: the next restart of containerd takes it away."
    return msgspec.structs.replace(failed, severity=Severity.WARNING, summary=summary)


def _any_lost(gate: NodeGate) -> Failed | None:
    lost = next((one for one in gate.lost if one.loss is Loss.TABLE_REPLACED), None)
    return _failed(gate, gate.effective, lost) if lost and isinstance(gate.effective, Effective) else None


def _failed(gate: NodeGate, effective: Effective, lost: LostHandler) -> Failed:
    winner = lost.winner
    why = f", but {lost.loss.value}"
    if winner and lost.loss is Loss.TABLE_REPLACED:
        why = f"; {winner} has the same table, and containerd {gate.release} takes the later one whole"
    return Failed(
        about=f"node/{gate.name}",
        codes=_CODES[lost.loss],
        title=_TITLES[lost.loss],
        summary=f'{lost.defined} defines runtime "{lost.name}"{why} (node {gate.name}).',
        evidence=(
            _line(gate, lost.defined, f'defines runtime "{lost.name}"'),
            *((_line(gate, winner, "read later: this table replaces it"),) if winner else ()),
            Evidence(
                object=f"node/{gate.name}",
                field="containerd release",
                value=str(gate.release),
                note=f"runtimes in effect: {', '.join(sorted(effective.handlers)) or 'none'}",
            ),
        ),
        remedy=_remedies(gate, lost),
    )


def _remedies(gate: NodeGate, lost: LostHandler) -> tuple[Remedy, ...]:
    if lost.loss is not Loss.TABLE_REPLACED or lost.winner is None:
        return (
            Remedy(f"Correct {lost.winner.file if lost.winner else lost.defined.file} on {gate.name}", "", Risk.HIGH),
        )
    if lost.defined.file.endswith(_TOOLKITS_DROPIN):
        return _through_the_toolkit(gate, lost.winner.file)
    return (
        Remedy(
            f"Move the settings of {lost.winner.file} into {lost.defined.file} and remove that file; then restart "
            f"containerd and see that the runtime is there, on {gate.name} and on one node at a time",
            f"systemctl restart containerd && containerd config dump | grep 'runtimes.{lost.name}'",
            Risk.HIGH,
        ),
    )


def _through_the_toolkit(gate: NodeGate, winner: str) -> tuple[Remedy, ...]:
    """The toolkit writes its drop-in anew when it starts, with a copy of what the other files say of the table."""
    return (
        Remedy(
            f"On {gate.name}, move the settings of {winner} into the top-level file (/etc/containerd/config.toml) and "
            f"remove {winner}",
        ),
        restart_toolkit(
            gate.name,
            "Then let the toolkit copy them into its drop-in and restart containerd, one node at a time (edits of the "
            "drop-in itself are overwritten)",
            Risk.HIGH,
        ),
    )


def _refused(gate: NodeGate, error: ConfigError) -> Failed:
    return Failed(
        about=f"node/{gate.name}",
        codes=(),
        title="containerd refuses its configuration",
        summary=f"{error} (node {gate.name}).",
        evidence=(Evidence(file=f"{gate.name}:{error.file}", line=error.line or None, verbatim=error.message),),
        remedy=(Remedy(f"Correct the file on {gate.name} and restart containerd", "", Risk.HIGH),),
    )


def _line(gate: NodeGate, origin: Origin, note: str) -> Evidence:
    lines = gate.files.get(origin.file, "").splitlines()
    text = lines[origin.line - 1].strip() if 0 < origin.line <= len(lines) else ""
    return Evidence(file=f"{gate.name}:{origin.file}", line=origin.line, verbatim=text, note=note)
