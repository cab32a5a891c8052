"""The pod was given a GPU, and its container has no driver.

The limit is there, the scheduler and the kubelet did their part, and the runtime put nothing into the container: its
handler is plain `runc`, no CDI device came with it, and the pod names no runtime class.

Why it matters: gate 1 is open and gate 2 is shut, so the GPU is held by a program that cannot use it.
How to tell: the program finds no `nvidia-smi`, `libcuda.so.1` or device, and no other image would find them on this
node. `CUDA driver version is insufficient` means the same far more often than a driver that is really old.
Fix: let the runtime inject by CDI (containerd 1.7 and newer), or name runtime class `nvidia`, or make `nvidia` the
default handler.
"""

from lockgate.diagnosis.absent_driver import absent_driver
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_two import GateTwo, NodeGate
from lockgate.diagnosis.views.words import Words
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod


@rule(codes=("J02",), severity=Severity.ERROR, stages=(Stage.CREATING, Stage.RUNNING, Stage.FAILED))
def not_injected(pod: Pod, runtime_class: str | Missing, words: Words, gate_two: GateTwo) -> Failed | None:
    found = absent_driver(words)
    if found is None:
        return None
    gate = gate_two.on(pod.spec.node_name)
    return Failed(
        about=pod_ref(pod),
        summary=f"It has a GPU by its limits and no driver inside: {_how(runtime_class)}, {_what(gate)}.",
        evidence=(
            found[1].evidence,
            *_named(pod, runtime_class),
            *_runtime(gate),
        ),
        remedy=(
            Remedy(
                f"See what the runtime on {gate.name} injects with",
                f"kubectl gpu lint --node {gate.name}; kubectl get runtimeclass",
                Risk.NONE,
            ),
            Remedy("Or name the runtime class that injects GPUs: runtimeClassName: nvidia", "", Risk.LOW),
        ),
    )


def _named(pod: Pod, runtime_class: str | Missing) -> tuple[Evidence, ...]:
    if isinstance(runtime_class, Missing):
        return ()
    return (Evidence(object=pod_ref(pod), field="spec.runtimeClassName", value=runtime_class or "none"),)


def _how(named: str | Missing) -> str:
    if isinstance(named, Missing):
        return "whether it names a RuntimeClass is not known"
    return f"it names RuntimeClass {named}" if named else "it names no RuntimeClass"


def _what(gate: NodeGate) -> str:
    runtime = gate.runtime
    if runtime is None:
        return f"and how {gate.name} injects is not known"
    cdi = {True: "on", False: "off", None: "not known"}[runtime.cdi_enabled]
    return f"the default handler of {gate.name} is {runtime.default_handler or 'not known'}, CDI is {cdi}"


def _runtime(gate: NodeGate) -> tuple[Evidence, ...]:
    if gate.runtime is None:
        return ()
    place, cdi = f"gpunodestate/{gate.name}", gate.runtime.cdi_enabled
    return (
        Evidence(
            object=place, field="status.runtime.defaultHandler", value=gate.runtime.default_handler or "not known"
        ),
        Evidence(
            object=place, field="status.runtime.cdiEnabled", value="not known" if cdi is None else str(cdi).lower()
        ),
    )
