"""The node's runtime is not configured as the toolkit wants it.

The toolkit agent compares what the runtime has loaded with what it wrote, and says so: Drifted (somebody changed it
since), Refused (the change would have broken something, so it was not made), RolledBack (made, found wrong, undone),
Unreachable (the runtime does not answer).

Why it matters: pods that run keep running; new ones that need the handler or CDI fail on this node only.
How to tell: `status.runtime.phase` of the node's GPUNodeState, and the message beside it.
Fix: read the agent's message: it names the file, or the setting, that stands in the way.
"""

from lockgate.diagnosis.rule import Failed, Passed, Skipped, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_two import GateTwo
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.node_state import RuntimeState
from lockgate.model.objects import Node

_PHASES = {
    "Drifted": ("it was changed since the toolkit configured it", "E02"),
    "Refused": ("the toolkit refused to change it", "E05"),
    "RolledBack": ("the toolkit's change did not come out as meant and was undone", "E05"),
    "Unreachable": ("it does not answer", "E20"),
}


@rule(
    codes=("E02", "E05", "E20"),
    severity=Severity.ERROR,
    stages=(Stage.NODE,),
    asks_gpu=None,
    mutes=(
        "containerd/handler-missing",
        "containerd/restarting",
        "nodes/default-handler-gone",
        "operands/crashes",
        "operands/init-waits",
        "operator/policy-not-ready",
    ),
)
def not_configured(node: Node, gate_two: GateTwo) -> Failed | Passed | Skipped | None:
    gate = gate_two.on(node.name)
    runtime = gate.runtime
    if runtime is None or not runtime.phase:
        return None
    if runtime.phase not in _PHASES and gate.refusals:
        return Skipped(
            f"what {node.name} published is older than the runtime's refusal of a handler", "", decides=False
        )
    if runtime.phase not in _PHASES:
        return Passed(f"the toolkit says {runtime.phase} of {node.name}")
    meaning, code = _PHASES[runtime.phase]
    place = f"gpunodestate/{node.name}"
    return Failed(
        about=f"node/{node.name}",
        codes=(code,),
        title=f"The runtime's configuration: {meaning}",
        summary=f"{node.name}: {_called(runtime)}: {meaning}. {runtime.message}".strip(),
        evidence=(
            Evidence(object=place, field="status.runtime.phase", value=runtime.phase, verbatim=runtime.message),
            *(
                Evidence(object=place, field="status.runtime.files", value=file.path, note=f"sha256 {file.sha256[:12]}")
                for file in runtime.files
            ),
        ),
        remedy=(
            Remedy(
                f"Read what the toolkit agent of {node.name} says of the runtime",
                f"kubectl get gpunodestates {node.name} -o jsonpath='{{.status.runtime}}'",
                Risk.NONE,
            ),
        ),
    )


def _called(runtime: RuntimeState) -> str:
    return " ".join(part for part in (runtime.name or "the runtime", runtime.release) if part)
