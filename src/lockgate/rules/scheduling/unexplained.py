"""The scheduler refuses the pod for a reason that is not explained here.

Its own words are quoted. Where the numbers of today would let the pod in, the text is old or the scheduler has not
tried again yet.

Why it matters: an unknown reason must not be taken for "GPUs are short".
How to tell: no rule that looks at the numbers failed. `Preemption is not helpful` and `No preemption victims found`
alone are no cause.
Fix: read the quoted text; if a node is open, wait a minute and ask again.
"""

from typing import Final

import msgspec

from lockgate.diagnosis.gate_row import GateRow, Obstacle
from lockgate.diagnosis.remedies import tolerate
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import MOST_NODES, gate_rows, listed, more_nodes, pod_ref, scheduler_text, some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.places import holders
from lockgate.kit.counted import counted
from lockgate.model import names
from lockgate.model.facts import Events, Missing, Nodes, Pods
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod, Taint
from lockgate.scheduling.causes import Cause
from lockgate.scheduling.messages import FailedScheduling
from lockgate.scheduling.node_fit import pods_by_node
from lockgate.scheduling.requests import amounts, defaulted_requests
from lockgate.scheduling.taints import NODE_IS_SICK

_LACKS_DEVICES: Final = (Obstacle.NO_RESOURCE, Obstacle.GONE)
_ROLES: Final = "node-role.kubernetes.io/"
_NEWER: Final = "no new claims to deallocate"


@rule(codes=(), severity=Severity.WARNING, stages=(Stage.SCHEDULING,), gpu=None, fallback=True, asks_gpu=None)
def unexplained(
    pod: Pod,
    gate_one: GateOne | Missing,
    pod_events: Events | Missing,
    nodes: Nodes | Missing,
    pods: Pods | Missing,
) -> Failed | None:
    word, text = scheduler_text(pod, () if isinstance(pod_events, Missing) else pod_events)
    if word is None:
        return None
    foreign = _foreign(text)
    if foreign and not isinstance(nodes, Missing) and not isinstance(pods, Missing):
        return _of_foreign(pod, foreign, word, nodes, pods)
    gate = None if isinstance(gate_one, Missing) or not gate_one.asked else gate_one
    open_now = _surest(gate.open_rows) if gate else ()
    short = gate.nearest_with(*_LACKS_DEVICES) if gate else ()
    facts_lack = isinstance(gate_one, Missing) or bool(_in_doubt(open_now))
    return Failed(
        about=pod_ref(pod),
        title=_title(open_now, text),
        summary=_summary(open_now, short, text, word.verbatim),
        evidence=(*some(word), *(gate_rows(gate, open_now or short) if gate else ())),
        remedy=(*(_named_taints(text) if isinstance(gate_one, Missing) else ()), _remedy(pod, facts_lack)),
    )


def _foreign(text: FailedScheduling | None) -> str:
    """The device of another vendor that lacks, where nothing else is said."""
    lacking = {r.resource for r in text.reasons} if text else set()
    name = next(iter(lacking)) if len(lacking) == 1 else ""
    return name if "/" in name and not names.is_gpu_resource(name) else ""


def _of_foreign(pod: Pod, resource: str, word: Evidence, nodes: Nodes, pods: Pods) -> Failed:
    here = pods_by_node(pods)
    offers = [(n, amounts(n.status.allocatable)[resource]) for n in nodes if resource in n.status.allocatable]
    held = {n.name: holders(here.get(n.name, ()), resource) for n, _ in offers}
    all_offered, all_held = sum(count for _, count in offers), sum(h.count for own in held.values() for h in own)
    return Failed(
        about=pod_ref(pod),
        title=f"The nodes have too little {resource}, which is no resource of NVIDIA's",
        summary=f"It asks for {defaulted_requests(pod.spec).get(resource, 0)}; of {all_offered} on "
        f"{counted(len(offers), 'node')} {counted(all_held, 'is', 'are')} requested. "
        "What its vendor's plugin and driver do is not judged here.",
        evidence=(
            word,
            *(
                Evidence(
                    object=f"node/{n.name}",
                    field=f"status.allocatable[{resource}]",
                    value=str(count),
                    note=f"requested by {listed(f'{h.pod} ({h.count})' for h in held[n.name]) or 'nobody'}",
                )
                for n, count in offers[:MOST_NODES]
            ),
            *more_nodes(len(offers) - MOST_NODES),
        ),
        remedy=(Remedy("See who holds it, and what else stands in the way", "kubectl describe nodes", Risk.NONE),),
    )


def _title(open_now: tuple[GateRow, ...], text: FailedScheduling | None) -> str:
    if open_now and not _in_doubt(open_now):
        return "The scheduler's refusal is out of date, or about something that is not checked here"
    known = text is not None and all(r.cause is not Cause.UNKNOWN for r in text.reasons) and bool(text.reasons)
    return "The scheduler's words alone do not tell the cause" if known else ""


def _summary(
    open_now: tuple[GateRow, ...], short: tuple[GateRow, ...], text: FailedScheduling | None, verbatim: str
) -> str:
    reasons = listed(f"{r.text} ({r.count})" for r in text.reasons) if text and text.reasons else ""
    words = reasons or (text.prefilter if text else "") or verbatim
    said = f"It says: {words.rstrip('.')}."
    if doubt := _in_doubt(open_now):
        offers = listed(f"{row.node} ({row.allocatable})" for row in doubt)
        return f"{said} There are enough on {offers}, and what pods request there is not known."
    if open_now:
        return f"{listed(row.node for row in open_now)} would take it by the numbers of now. {said}"
    if short:
        numbers = listed(f"{row.node}: {row.arithmetic()}" for row in short)
        return f"{said} By the numbers of now, {numbers}; why is not told by what was read."
    if text is not None and any(r.resource and names.is_gpu_resource(r.resource) for r in text.reasons):
        alike = "That text is the same for a full node, a lost plugin and a sick GPU"
        return f"{said} {alike}; {_ending(text) or 'the numbers of the nodes decide'}."
    return said


def _surest(rows: tuple[GateRow, ...]) -> tuple[GateRow, ...]:
    """Those whose numbers are all known, where there are such."""
    return tuple(row for row in rows if row.requested is not None) or rows


def _in_doubt(open_now: tuple[GateRow, ...]) -> tuple[GateRow, ...]:
    """The open nodes where of none it is known what its pods request: then nobody can say that it would fit."""
    return open_now if all(row.requested is None for row in open_now) else ()


def _named_taints(text: FailedScheduling | None) -> tuple[Remedy, ...]:
    """For each taint that the text names of some of the nodes, how these come into question."""
    refused = ((r.count, Taint(*r.taint)) for r in (text.reasons if text else ()) if r.taint)
    return tuple(
        msgspec.structs.replace(remedy, text=f"{remedy.text}; without it {counted(count, 'node')} refuse the pod")
        for count, taint in refused
        if not taint.key.startswith((NODE_IS_SICK, _ROLES))
        for remedy in (tolerate(taint),)
    )


def _ending(text: FailedScheduling) -> str:
    """What the preemption part gives away where GPUs are the only reason.

    Below 1.34 the scheduler asks for victims also where a node offers no GPU at all, so that ending says nothing; where
    it says that preemption is not helpful it is newer (noderesources/fit.go of 1.33.0 and 1.34.0). The note about
    claims comes from 1.34 and later alone.
    """
    after = text.preemption
    if after is None or len(text.reasons) != 1:
        return ""
    if after.victims_missing == text.nodes:
        held = "its ending says that the GPUs are there and other pods hold them; the pods on the nodes tell which"
        return held if _NEWER in text.notes else f"from a scheduler of 1.34 or later {held}; from an older one nothing"
    if after.not_helpful == text.nodes:
        return "its ending says that no node offers as many as are asked for, held or not; the nodes' numbers tell why"
    return ""


def _remedy(pod: Pod, without_numbers: bool) -> Remedy:
    if without_numbers:
        command = "kubectl get nodes,pods,daemonsets,events -A -o json > facts.json"
        return Remedy("Get the facts that decide, and ask again with --from facts.json", command, Risk.NONE)
    return Remedy("Look at the pod's newest events", f"kubectl describe pod -n {pod.namespace} {pod.name}", Risk.NONE)
