"""Gate 1 of the pod that is asked about: of one that has its node already that node alone is looked at."""

import msgspec

from lockgate.diagnosis.views.gate_one import GateOne, gate_at, gate_one
from lockgate.diagnosis.views.places import Places
from lockgate.model.facts import DeviceClasses, Missing, Namespaces
from lockgate.model.objects import Pod, PodSpec


def gate_of_pod(
    pod: Pod,
    spec: PodSpec,
    places: Places,
    namespaces: Namespaces | Missing,
    device_classes: DeviceClasses | Missing,
) -> GateOne:
    """Judge every GPU node, or the pod's own; its spec has to be known for that."""
    own = places.nodes.get(pod.spec.node_name)
    here = None if own is None else places.on(own.name)
    if own is None or here is None:
        return gate_at(places, pod, namespaces, device_classes)
    judged = gate_one(pod, (own,), tuple(here), namespaces, device_classes)
    return msgspec.structs.replace(judged, total_nodes=len(places.all))
