"""The scheduler refuses the pod for a reason that is not explained here.

Its own words are quoted. Where the numbers of today would let the pod in, the text is old or the scheduler has not
tried again yet.

Why it matters: an unknown reason must not be taken for "GPUs are short".
Fix: read the quoted text; if a node is open, wait a minute and ask again.
"""

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import gate_rows, listed, pod_ref, scheduler_text, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.model.facts import Events, Missing
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Pod


@rule(codes=(), severity=Severity.WARNING, stages=(Stage.SCHEDULING,), gpu=None, fallback=True, asks_gpu=None)
def unexplained(pod: Pod, gate_one: GateOne | Missing, pod_events: Events | Missing) -> Failed | None:
    word, text = scheduler_text(pod, () if isinstance(pod_events, Missing) else pod_events)
    if word is None:
        return None
    gate = None if isinstance(gate_one, Missing) or not gate_one.asked else gate_one
    open_now = gate.open_rows if gate else ()
    where = listed(row.node for row in open_now)
    reasons = listed(r.text for r in text.reasons) if text and text.reasons else (text.prefilter if text else "")
    said = f"It says: {reasons or word.verbatim}."
    return Failed(
        about=pod_ref(pod),
        title="The scheduler's refusal is out of date" if open_now else "",
        summary=f"{where} would take it by the numbers of now. {said}" if open_now else said,
        evidence=(*some(word), *(gate_rows(gate, open_now) if gate else ())),
        remedy=(
            Remedy("Look at the pod's newest events", f"kubectl describe pod -n {pod.namespace} {pod.name}", Risk.NONE),
        ),
    )
