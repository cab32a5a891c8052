"""A volume keeps the pod from being placed.

A claim that it mounts is not bound, does not exist, or lies in a zone without GPU nodes.

Why it matters: the scheduler looks at volumes before it counts GPUs, so nothing is said about GPUs at all.
How to tell: the scheduler speaks of a claim or a volume; `kubectl describe pvc` says what the claim waits for.
Fix: make the claim bindable (storage class, provisioner, access mode), or place volume and GPU nodes in one zone.
"""

from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import listed, pod_ref, scheduler_text, some
from lockgate.diagnosis.stage import Stage
from lockgate.model.facts import Events, Missing, PersistentVolumeClaims
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import PersistentVolumeClaim, Pod, PodSpec
from lockgate.scheduling.causes import Cause
from lockgate.scheduling.messages import FailedScheduling


@rule(codes=("B05",), severity=Severity.BLOCKER, stages=(Stage.SCHEDULING,), gpu=False, asks_gpu=None)
def volume(
    pod: Pod,
    spec: PodSpec | Missing,
    persistent_volume_claims: PersistentVolumeClaims | Missing,
    pod_events: Events | Missing,
) -> Failed | Passed | None:
    word, text = scheduler_text(pod, () if isinstance(pod_events, Missing) else pod_events)
    said = text is not None and (text.prefilter_cause is Cause.VOLUME or bool(text.count(Cause.VOLUME)))
    volumes = () if isinstance(spec, Missing) else spec.volumes
    claims = [v.persistent_volume_claim.claim_name for v in volumes if v.persistent_volume_claim]
    mounts_none = not isinstance(spec, Missing) and not claims
    if not said:
        return Passed("it mounts no claim" if mounts_none else "the scheduler names no volume") if word else None
    reach = _reach(text) if text else 1
    evidence = [] if isinstance(persistent_volume_claims, Missing) else _claims(pod, claims, persistent_volume_claims)
    return Failed(
        about=f"persistentvolumeclaim/{pod.namespace}/{claims[0]}" if claims else pod_ref(pod),
        summary=f"The scheduler waits for {listed(claims) or 'its volume'}{_state(evidence)}.",
        reach=reach,
        evidence=(*evidence, *some(word)),
        remedy=(
            Remedy(
                "See why the claim is not usable",
                f"kubectl describe pvc -n {pod.namespace} {claims[0]}"
                if claims
                else f"kubectl get pvc -n {pod.namespace}",
                Risk.NONE,
            ),
        ),
    )


def _reach(text: FailedScheduling) -> int:
    """A claim that is refused before any node is looked at goes before all that is true of the nodes."""
    return text.nodes + 1 if text.prefilter_cause is Cause.VOLUME else text.count(Cause.VOLUME)


def _claims(pod: Pod, names: list[str], known: PersistentVolumeClaims) -> list[Evidence]:
    by_name = {c.name: c for c in known if c.namespace == pod.namespace}
    return [_seen(pod, name, by_name.get(name)) for name in names]


def _seen(pod: Pod, name: str, claim: PersistentVolumeClaim | None) -> Evidence:
    place = f"persistentvolumeclaim/{pod.namespace}/{name}"
    if claim is None:
        return Evidence(object=place, field="metadata.name", value="absent", note="there is no such claim")
    return Evidence(
        object=place,
        field="status.phase",
        value=claim.status.phase or "unknown",
        note=f"storage class {claim.spec.storage_class_name or 'none'}",
    )


def _state(evidence: list[Evidence]) -> str:
    states = [e.value for e in evidence if e.value not in ("", "Bound")]
    return f", which is {listed(dict.fromkeys(states))}" if states else ""
