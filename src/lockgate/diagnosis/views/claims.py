"""The resource claims of one pod, and the devices that drivers offer: dynamic resource allocation as it stands."""

from collections.abc import Iterable

import msgspec

from lockgate.model import names
from lockgate.model.claims import AllocatedDevice, ResourceClaim, ResourceSlice
from lockgate.model.facts import Missing, ResourceClaims, ResourceSlices
from lockgate.model.objects import Pod, PodResourceClaim


class PodClaim(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of `spec.resourceClaims`: the claim's name ("" while none was made of its template) and the claim."""

    entry: str
    template: str = ""
    name: str = ""
    claim: ResourceClaim | None = None


class Offer(msgspec.Struct, frozen=True):
    """A device that a driver offers, its node ("" where it is of several), and the claim that holds it."""

    device: AllocatedDevice
    node: str
    held_by: str = ""


class Claims:
    """A pod's claims and all devices; `offers` is None where slices or claims are not known."""

    def __init__(self, wanted: tuple[PodClaim, ...], known: bool, offers: tuple[Offer, ...] | None) -> None:
        self.wanted, self.known, self.offers = wanted, known, offers

    def free(self) -> tuple[Offer, ...]:
        """The devices that no claim holds."""
        return tuple(offer for offer in self.offers or () if not offer.held_by)


def claims(pod: Pod, resource_claims: ResourceClaims | Missing, resource_slices: ResourceSlices | Missing) -> Claims:
    """Bring a pod's claims together with what there is."""
    there = () if isinstance(resource_claims, Missing) else resource_claims
    by_name = {c.name: c for c in there if c.namespace == pod.namespace}
    made = {s.name: s.resource_claim_name for s in pod.status.resource_claim_statuses}
    wanted = tuple(_pod_claim(entry, made, by_name) for entry in pod.spec.resource_claims)
    unknown = isinstance(resource_slices, Missing) or isinstance(resource_claims, Missing)
    offers = None if isinstance(resource_slices, Missing) or unknown else tuple(_offers(resource_slices, there))
    return Claims(wanted, not isinstance(resource_claims, Missing), offers)


def offered_on(slices: ResourceSlices | Missing, node: str) -> int:
    """How many GPUs NVIDIA's driver for claims offers on a node."""
    known = () if isinstance(slices, Missing) else slices
    own = (s for s in known if s.spec.driver == names.CLAIMS_DRIVER and s.spec.node_name == node)
    return sum(len(s.spec.devices) for s in own)


def _pod_claim(entry: PodResourceClaim, made: dict[str, str], known: dict[str, ResourceClaim]) -> PodClaim:
    name = entry.resource_claim_name or made.get(entry.name, "")
    return PodClaim(entry=entry.name, template=entry.resource_claim_template_name, name=name, claim=known.get(name))


def _offers(slices: Iterable[ResourceSlice], known: ResourceClaims) -> Iterable[Offer]:
    holders = {device: f"{c.namespace}/{c.name}" for c in known for device in c.devices}
    for each in slices:
        for device in each.spec.devices:
            place = AllocatedDevice(driver=each.spec.driver, pool=each.spec.pool.name, device=device.name)
            yield Offer(place, each.spec.node_name, holders.get(place, ""))
