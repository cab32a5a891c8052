"""What one reason of a scheduling text is about: the words of every release from 1.20 to 1.37, sorted into causes."""

import enum
import re
from collections.abc import Mapping

import msgspec

TAINT_REASON = "node(s) had untolerated taint(s)"


class Cause(enum.StrEnum):
    """What a reason is about, whatever release worded it."""

    INSUFFICIENT = "insufficient-resource"
    TOO_MANY_PODS = "too-many-pods"
    TAINT = "untolerated-taint"
    CORDONED = "unschedulable"
    SELECTOR = "node-selector"
    NODE_NAME = "node-name"
    PORTS = "host-ports"
    POD_AFFINITY = "pod-affinity"
    POD_ANTI_AFFINITY = "pod-anti-affinity"
    TOPOLOGY_SPREAD = "topology-spread"
    VOLUME = "volume"
    DEVICE_CLAIM = "device-claim"
    GANG = "gang"
    GROUP_SIZE = "node-group-size"
    OTHER_PLUGIN = "other-plugin"
    NO_VICTIMS = "no-preemption-victims"
    NOT_HELPFUL = "preemption-not-helpful"
    UNKNOWN = "unknown"


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """`count` nodes refused for `text` (verbatim); `resource` and `taint` are filled where the text names them."""

    count: int
    text: str
    cause: Cause
    resource: str = ""
    taint: tuple[str, str] | None = None


_INSUFFICIENT = re.compile(r"Insufficient (\S+)")
_TAINT = re.compile(r"node\(s\) had (?:untolerated )?taint \{(.*)\}(?:, that the pod didn't tolerate)?", re.DOTALL)

_EXACT: Mapping[str, Cause] = {
    "Too many pods": Cause.TOO_MANY_PODS,
    TAINT_REASON: Cause.TAINT,
    "node(s) had taints that the pod didn't tolerate": Cause.TAINT,
    "node(s) were unschedulable": Cause.CORDONED,
    "node(s) had unknown conditions": Cause.CORDONED,
    "node(s) didn't match Pod's node affinity/selector": Cause.SELECTOR,
    "node(s) didn't match Pod's node affinity": Cause.SELECTOR,
    "node(s) didn't match node selector": Cause.SELECTOR,
    "node(s) didn't match scheduler-enforced node affinity": Cause.SELECTOR,
    "node(s) didn't satisfy plugin(s) [NodeAffinity]": Cause.SELECTOR,
    "pod affinity terms conflict": Cause.SELECTOR,
    # dynamic resource allocation of 1.26 to 1.31, with a controller of the driver's own
    "waiting for resource driver to allocate resource": Cause.DEVICE_CLAIM,
    "waiting for resource driver to provide information": Cause.DEVICE_CLAIM,
    "node(s) didn't match the requested node name": Cause.NODE_NAME,
    "node(s) didn't match the requested hostname": Cause.NODE_NAME,
    "node(s) didn't have free ports for the requested pod ports": Cause.PORTS,
    "node(s) didn't match pod affinity rules": Cause.POD_AFFINITY,
    "node(s) didn't match pod affinity/anti-affinity rules": Cause.POD_AFFINITY,
    "node(s) didn't match pod affinity/anti-affinity": Cause.POD_AFFINITY,
    "node(s) didn't match pod anti-affinity rules": Cause.POD_ANTI_AFFINITY,
    "node(s) didn't satisfy existing pods anti-affinity rules": Cause.POD_ANTI_AFFINITY,
    "node(s) didn't match pod topology spread constraints": Cause.TOPOLOGY_SPREAD,
    "node(s) didn't match pod topology spread constraints (missing required label)": Cause.TOPOLOGY_SPREAD,
    "node(s) exceed max volume count": Cause.VOLUME,
    "node(s) had no available volume zone": Cause.VOLUME,
    "node(s) had no available disk": Cause.VOLUME,
    "node(s) had volume node affinity conflict": Cause.VOLUME,
    "node(s) didn't match PersistentVolume's node affinity": Cause.VOLUME,
    "node(s) didn't find available persistent volumes to bind": Cause.VOLUME,
    "node(s) did not have enough free storage": Cause.VOLUME,
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)": Cause.VOLUME,
    "node(s) didn't match Pod's required features": Cause.OTHER_PLUGIN,
    "node had resize preemption disabled": Cause.OTHER_PLUGIN,
    "pod assigned to different node": Cause.OTHER_PLUGIN,
    "waiting for minCount pods from a gang to appear in scheduling queue": Cause.GANG,
    "max node group size reached": Cause.GROUP_SIZE,
    "max cluster size reached": Cause.GROUP_SIZE,
    "max cluster cpu, memory limit reached": Cause.GROUP_SIZE,
    "in backoff after failed scale-up": Cause.GROUP_SIZE,
    "No preemption victims found for incoming pod": Cause.NO_VICTIMS,
    "No preemption victims found for incoming preemptor": Cause.NO_VICTIMS,
    "Preemption is not helpful for scheduling": Cause.NOT_HELPFUL,
}
_CONTAINED: Mapping[str, Cause] = {
    "No victims found on node": Cause.NO_VICTIMS,
    "PersistentVolume": Cause.VOLUME,
    "persistentvolumeclaim": Cause.VOLUME,
    "StorageClass": Cause.VOLUME,
    "CSI driver": Cause.VOLUME,
    "resourceclaim": Cause.DEVICE_CLAIM,
    "ResourceClaim": Cause.DEVICE_CLAIM,
    "resource claim": Cause.DEVICE_CLAIM,
    "cannot allocate all claims": Cause.DEVICE_CLAIM,
    "allocate devices": Cause.DEVICE_CLAIM,
    "allocating devices": Cause.DEVICE_CLAIM,
    "device class": Cause.DEVICE_CLAIM,
    "pod group": Cause.GANG,
    "minCount (": Cause.GANG,
}
_BEGINNING: Mapping[str, Cause] = {
    "node(s) didn't satisfy plugin(s)": Cause.OTHER_PLUGIN,
    "claim ": Cause.DEVICE_CLAIM,  # the structured allocator: `claim ns/name, request gpu: ...`
}


def parse_reason(count: int, text: str) -> Reason:
    """One reason: what it is about, with the resource or the taint that it names."""
    if insufficient := _INSUFFICIENT.fullmatch(text):
        return Reason(count=count, text=text, cause=Cause.INSUFFICIENT, resource=insufficient.group(1))
    if taint := _TAINT.fullmatch(text):
        key, _, value = taint.group(1).partition(": ")
        return Reason(count=count, text=text, cause=Cause.TAINT, taint=(key.rstrip(":"), value))
    return Reason(count=count, text=text, cause=cause_of(text))


def cause_of(text: str) -> Cause:
    """The cause of a reason by its words alone; UNKNOWN for words that no known release writes."""
    text = text.rstrip(".")
    if text in _EXACT:
        return _EXACT[text]
    contained = next((cause for words, cause in _CONTAINED.items() if words in text), None)
    if contained is not None:
        return contained
    return next((cause for words, cause in _BEGINNING.items() if text.startswith(words)), Cause.UNKNOWN)
