"""The node is not ready: its kubelet does not report, or reports a fault.

Nothing new is placed on such a node, its pods are no longer called ready, and after some minutes they are evicted: one
of a kubelet that is silent then stays in Terminating. What the node offers is only what it last said.

Why it matters: GPUs that are still in `allocatable` cannot be used, and every other sign of the node is out of date.
How to tell: the node's condition Ready is False (the kubelet says why) or Unknown (the kubelet is silent).
Fix: see the kubelet and the runtime on the node; the condition's own words say which of them fails. Where a machine is
gone for good, delete its node: only then are its pods let go, and a StatefulSet makes new ones.
"""

from lockgate.diagnosis.gate_row import Obstacle
from lockgate.diagnosis.node_start import is_silent
from lockgate.diagnosis.rule import Failed, Passed, on_each, rule
from lockgate.diagnosis.seen import condition_of, gate_row
from lockgate.diagnosis.stage import Stage, is_ready
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.places import Places
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Condition, Node, Pod
from lockgate.scheduling.taints import NODE_IS_SICK


@rule(
    codes=("B04",),
    severity=Severity.ERROR,
    stages=(Stage.NODE, Stage.SCHEDULING, Stage.CREATING, Stage.RUNNING, Stage.TERMINATING),
    gpu=False,
    asks_gpu=None,
    mutes=(
        "operands/plugin-gone",
        "operands/plugin-idle",
        "operands/plugin-not-targeted",
        "operands/crashes",
        "operands/init-waits",
        "operands/left-out",
        "devices/unhealthy",
        "containerd/handler-missing",
        "containerd/not-configured",
        "containerd/restarting",
        "operator/policy-not-ready",
        "scheduling/untolerated-taint:B04",
    ),
)
def not_ready(
    node: Node | Missing, pod: Pod | Missing, places: Places | Missing, gate_one: GateOne | Missing, stage: Stage
) -> Failed | Passed | None:
    if stage is Stage.SCHEDULING:
        lost = [_failed(n, ready, ()) for n in _kept_from(gate_one, places) if (ready := _ready(n)) is not None]
        return on_each(lost) if lost else None
    on = _beneath(pod, places) if isinstance(node, Missing) else node
    ready = _ready(on)
    if on is None or ready is None:  # a cut file says nothing
        return None
    if ready.status == "True":
        return Passed(f"{on.name} is Ready")
    return _failed(on, ready, _held(gate_one) if stage is Stage.NODE else ())


def _ready(node: Node | None) -> Condition | None:
    return next((c for c in node.status.conditions if c.type == "Ready"), None) if node else None


def _failed(on: Node, ready: Condition, held: tuple[Evidence, ...]) -> Failed:
    silent = ready.status == "Unknown"
    return Failed(
        about=f"node/{on.name}",
        summary=f"{on.name}: {'its kubelet has stopped reporting' if silent else 'its kubelet reports a fault'}"
        f" ({ready.reason or 'no reason given'}).",
        nodes=(on.name,),
        evidence=(
            condition_of(f"node/{on.name}", ready),
            *held,
        ),
        remedy=(
            Remedy(
                f"On {on.name}, see whether kubelet and runtime run, and what they say",
                "systemctl status kubelet containerd; journalctl -u kubelet -n 50",
                Risk.NONE,
            ),
            *((_give_up(on),) if silent else ()),
        ),
    )


def _beneath(pod: Pod | Missing, places: Places | Missing) -> Node | None:
    """The node of a pod that is not well there: one that still serves does so without its kubelet."""
    if isinstance(pod, Missing) or isinstance(places, Missing) or not pod.spec.node_name or is_ready(pod):
        return None
    return places.nodes.get(pod.spec.node_name)


def _kept_from(gate: GateOne | Missing, places: Places | Missing) -> tuple[Node, ...]:
    """The nodes that keep a waiting pod away by a taint of their illness, beside nearer ones that do not take it."""
    if isinstance(gate, Missing) or isinstance(places, Missing) or not all(row.obstacles for row in gate.nearest):
        return ()
    fewest = min((len(row.obstacles) for row in gate.nearest), default=0)
    farther = (row for row in gate.candidates if len(row.obstacles) > fewest and Obstacle.TAINT in row.obstacles)
    sick = {row.node for row in farther if any(t.key.startswith(NODE_IS_SICK) for t in row.taints)}
    return tuple(n for n in places.all if n.name in sick and is_silent(n))


def _held(gate: GateOne | Missing) -> tuple[Evidence, ...]:
    """Who holds its GPUs meanwhile."""
    rows = () if isinstance(gate, Missing) else gate.rows
    return tuple(gate_row(gate, row) for row in rows if row.holders and not isinstance(gate, Missing))


def _give_up(node: Node) -> Remedy:
    text = f"If the machine of {node.name} is off for good, take the node out: its pods go, and are made elsewhere"
    return Remedy(text, f"kubectl delete node {node.name}", Risk.HIGH)
