"""The handler stands in a file that this node's containerd does not read.

K3s and RKE2 bring a containerd of their own with its own top-level file. A toolkit that was not told so edits
`/etc/containerd/config.toml`, which belongs to another containerd (Docker's) or to none.

Why it matters: the toolkit is content, its file is right, and pods fail with `no runtime for "nvidia" is configured`.
How to tell: the file that defines the handler is not the one that the kubelet's containerd reads.
Fix: tell the toolkit the file and the socket: CONTAINERD_CONFIG and CONTAINERD_SOCKET in the ClusterPolicy's
`toolkit.env`.
"""

from posixpath import dirname

from lockgate.containerd.effective import Effective
from lockgate.containerd.traps import handlers_in
from lockgate.containerd.values import Origin
from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_two import GateTwo, NodeGate
from lockgate.diagnosis.views.handler import NeededHandler
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

_STOCK = "/etc/containerd"


@rule(
    codes=("E05",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.NODE),
    asks_gpu=None,
    mutes=("containerd/dropin-overridden", "containerd/handler-missing", *BROKEN_NODE),
    runtime="containerd",
)
def wrong_file(pod: Pod, gate_two: GateTwo, handler: NeededHandler) -> Failed | Passed | None:
    gate = gate_two.on(pod.spec.node_name)
    effective = gate.effective
    if not handler.name or not isinstance(effective, Effective) or dirname(gate.root) == _STOCK:
        return None
    if handler.name in effective.handlers:
        return Passed(f"{gate.root} of {gate.name} has runtime {handler.name}")
    found = _elsewhere(gate, effective, handler.name)
    return _failed(gate, handler.name, found) if found else None


def _elsewhere(gate: NodeGate, effective: Effective, wanted: str) -> Origin | None:
    """The line of a file of the stock containerd that defines the handler."""
    for path, text in sorted(gate.files.items()):
        if path.startswith(f"{_STOCK}/") and path.endswith(".toml") and path not in effective.loaded:
            for name, origin in handlers_in(text, path, effective):
                if name == wanted:
                    return origin
    return None


def _failed(gate: NodeGate, name: str, found: Origin) -> Failed:
    return Failed(
        about=f"node/{gate.name}",
        summary=f'runtime "{name}" is defined in {found.file}, and the containerd of {gate.name} reads {gate.root}.',
        evidence=(
            Evidence(file=f"{gate.name}:{found.file}", line=found.line, note=f'defines runtime "{name}" for nobody'),
            Evidence(file=f"{gate.name}:{gate.root}", line=1, note="is read instead, and does not define it"),
        ),
        remedy=(
            Remedy(
                "Tell the toolkit which file and which socket are meant",
                "kubectl patch clusterpolicy cluster-policy --type merge -p "
                f'\'{{"spec":{{"toolkit":{{"env":[{{"name":"CONTAINERD_CONFIG","value":"{gate.root}"}}]}}}}}}\'',
                Risk.HIGH,
            ),
        ),
    )
