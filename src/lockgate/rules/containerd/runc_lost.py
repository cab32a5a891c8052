"""The node's containerd has lost its plain runtime runc.

Before containerd 2.0 the first table of runtimes in any file replaces the built-in list. A drop-in, or an edit, that
names only `nvidia` leaves no `runc`, which stays the default runtime.

Why it matters: every new pod on the node fails that names no RuntimeClass, those of the network and of the operator
among them; what runs already runs on.
How to tell: `no runtime for "runc" is configured`, while nvidia's handlers are there.
Fix: define runc beside the other handlers in the same file, and restart containerd, one node at a time.
"""

from lockgate.containerd.effective import Effective
from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import event, listed
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_two import GateTwo, NodeGate
from lockgate.diagnosis.views.handler import NeededHandler
from lockgate.diagnosis.views.loaded import CONTAINERD
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Event, Pod

_RUNC = "runc"


@rule(
    codes=("E03",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.NODE),
    asks_gpu=None,
    mutes=("containerd/handler-missing", *BROKEN_NODE),
    runtime="containerd",
)
def runc_lost(pod: Pod, gate_two: GateTwo, handler: NeededHandler) -> Failed | Passed | None:
    gate = gate_two.on(pod.spec.node_name)
    said = handler.refused if handler.name == _RUNC and handler.runtime == CONTAINERD else None
    if said is None and not _files_lost_it(gate):
        return Passed(f"runc is loaded on {gate.name}") if gate.loaded and _RUNC in gate.loaded.names else None
    return _failed(gate, said)


def _files_lost_it(gate: NodeGate) -> bool:
    """Whether the files have other handlers, and runc, which they do not have, is the default."""
    effective = gate.effective
    if not isinstance(effective, Effective) or effective.cri_disabled or not effective.handlers:
        return False
    loaded = gate.loaded is not None and _RUNC in gate.loaded.names
    return effective.default_runtime_name == _RUNC and _RUNC not in effective.handlers and not loaded


def _failed(gate: NodeGate, said: Event | None) -> Failed:
    names = gate.loaded.names if gate.loaded else ()
    has = f"; it has {listed(n for n in names if n != _RUNC)}" if names else ""
    return Failed(
        about=f"node/{gate.name}",
        summary=f'{gate.name} has no runtime "runc", which every pod without a RuntimeClass needs{has}.',
        evidence=(*((event(said),) if said else ()), *_loaded(gate), *_files(gate)),
        remedy=(
            Remedy(f"On {gate.name}, see the runtimes in effect", "containerd config dump | grep runtimes", Risk.NONE),
            Remedy(
                "Define runc beside the other handlers, in the file that has them, and restart containerd; one node at "
                "a time",
                "systemctl restart containerd",
                Risk.HIGH,
            ),
        ),
    )


def _loaded(gate: NodeGate) -> tuple[Evidence, ...]:
    loaded = gate.loaded
    if loaded is None:
        return ()
    return (Evidence(object=loaded.place, field=loaded.field, value=", ".join(loaded.names)),)


def _files(gate: NodeGate) -> tuple[Evidence, ...]:
    effective = gate.effective
    if not isinstance(effective, Effective):
        return ()
    return tuple(
        Evidence(file=f"{gate.name}:{h.origin.file}", line=h.origin.line, note=f'defines runtime "{h.name}"')
        for h in effective.handlers.values()
        if h.origin.file
    )
