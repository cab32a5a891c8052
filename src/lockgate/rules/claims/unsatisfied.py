"""No node has the devices that the pod's claims ask for.

With dynamic resource allocation a driver publishes each node's devices in ResourceSlices, and the scheduler looks for
devices that fit every claim of the pod. It writes the same `cannot allocate all claims` where no driver offers
anything, where other claims hold every device, and where a selector fits none.

Why it matters: `nvidia.com/gpu` and its arithmetic play no part here; a node may show free GPUs and none for claims,
or the other way round.
How to tell: the scheduler says `cannot allocate all claims`; slices and claims, set side by side, tell which of the
three it is.
Fix: where nothing is offered, see why the driver publishes no devices; where all is held, end a pod that holds one;
where nothing fits, loosen the claim's selectors.
"""

from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.seen import listed, pod_ref, scheduler_text
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.claims import Claims, Offer
from lockgate.kit.counted import agreeing
from lockgate.model.facts import Events, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod
from lockgate.scheduling.causes import Cause

_MOST = 8
_TEXTS = ("cannot allocate all claims", "resourceclaim in use", "resourceclaim not available")


@rule(
    codes=("C18",),
    severity=Severity.BLOCKER,
    stages=(Stage.SCHEDULING,),
    asks_gpu=None,
    mutes=("operands/plugin-not-installed", "discovery/no-gpu-node"),
)
def unsatisfied(pod: Pod, claims: Claims, pod_events: Events | Missing) -> Failed | Skipped | None:
    word, text = scheduler_text(pod, () if isinstance(pod_events, Missing) else pod_events)
    said = text is not None and (text.prefilter_cause is Cause.DEVICE_CLAIM or bool(text.count(Cause.DEVICE_CLAIM)))
    if not said or word is None or not any(words in word.verbatim for words in _TEXTS):
        return None
    if claims.offers is None:
        return Skipped(
            "what drivers offer and claims hold is not known", "kubectl get resourceslices,resourceclaims -A"
        )
    offers, free = claims.offers, claims.free()
    title, why, remedy = _case(offers, free)
    return Failed(
        about=pod_ref(pod),
        title=title,
        summary=f"Its claims ({listed(c.entry for c in claims.wanted) or 'of an extended resource'}): {why}.",
        evidence=(word, *map(_seen, offers[:_MOST]), *_more(len(offers) - _MOST)),
        remedy=(remedy,),
    )


def _case(offers: tuple[Offer, ...], free: tuple[Offer, ...]) -> tuple[str, str, Remedy]:
    if not offers:
        look = Remedy(
            "See whether the driver for claims runs on the GPU nodes, and what it says",
            "kubectl get pods -A -o wide | grep -i dra-driver",
            Risk.NONE,
        )
        return "No driver offers devices for claims", "no ResourceSlice exists, so there is no device to allocate", look
    if not free:
        holders = list(dict.fromkeys(offer.held_by for offer in offers))
        wait = Remedy(
            f"End a pod that uses a claim ({listed(holders)}), or add a node",
            "kubectl get resourceclaims -A",
            Risk.NONE,
        )
        every = "Every device that drivers offer is held by a claim"
        many = f"all {len(offers)} devices are" if len(offers) > 1 else "the only device is"
        return every, f"{many} held by {listed(holders)}", wait
    loosen = Remedy(
        "Compare the claim's selectors with the attributes of the devices",
        "kubectl get resourceslices -o yaml",
        Risk.NONE,
    )
    return (
        "Devices are free, and none fits the pod's claims together",
        f"{len(free)} of {len(offers)} devices {agreeing(len(free), 'is', 'are')} free "
        f"({listed(_name(offer) for offer in free)}), and no node has a "
        "set that fits every claim",
        loosen,
    )


def _name(offer: Offer) -> str:
    return f"{offer.device.device} of {offer.node or offer.device.pool}"


def _seen(offer: Offer) -> Evidence:
    place = f"node/{offer.node}" if offer.node else f"pool/{offer.device.pool}"
    return Evidence(object=place, field=f"{offer.device.driver} {offer.device.device}", value=offer.held_by or "free")


def _more(count: int) -> tuple[Evidence, ...]:
    return (Evidence(object="devices", field="not shown", value=str(count)),) if count > 0 else ()
