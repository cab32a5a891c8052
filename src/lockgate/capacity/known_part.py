"""What a part of the facts leaves open for a pod: pods that may hold more than is seen, nodes that may take it."""

from collections.abc import Iterator, Mapping

from lockgate.capacity.overview import is_requested_known
from lockgate.kit.counted import few
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import Pod
from lockgate.scheduling.scene import Scene


def holders_unread(scene: Scene, where: Mapping[str, int], snapshot: Snapshot) -> Iterator[str]:
    """That it is not known what is requested on nodes where the pod was placed."""
    open_ = [name for name in where if not is_requested_known(scene.nodes[name].node, snapshot)]
    if isinstance(snapshot.pods, Missing) and open_:
        yield f"what other pods request on {few(open_)}: {snapshot.pods.text}"


def is_bound(scene: Scene, snapshot: Snapshot) -> bool:
    """Whether more may be requested on GPU nodes than is seen."""
    gpu_nodes = (view.node for view in scene.nodes.values() if is_gpu_node(view.node))
    return not all(is_requested_known(node, snapshot) for node in gpu_nodes)


def could_refuse(pod: Pod, snapshot: Snapshot) -> Iterator[str]:
    """What was not read and could keep the pod away from where it was placed, whatever room there is."""
    if isinstance(snapshot.pods, Missing):
        yield f"ports, affinity and spread of pods that were not read one by one: {snapshot.pods.text}"
    if isinstance(snapshot.nodes, Missing) and _looks_around(pod):
        yield f"affinity and spread among nodes that were not read: {snapshot.nodes.text}"


def could_take(pod: Pod, snapshot: Snapshot) -> Iterator[str]:
    """What was not read and could take the pod that fits on nothing that was."""
    if isinstance(snapshot.nodes, Missing):
        yield f"other nodes than those that are known: {snapshot.nodes.text}"
    if isinstance(snapshot.pods, Missing) and _wants_company(pod):
        yield f"pods that it wants beside it may be among those that were not read: {snapshot.pods.text}"


def _wants_company(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    return bool(affinity and affinity.pod_affinity and affinity.pod_affinity.required)


def _looks_around(pod: Pod) -> bool:
    affinity = pod.spec.affinity
    apart = bool(affinity and affinity.pod_anti_affinity and affinity.pod_anti_affinity.required)
    spread = any(c.when_unsatisfiable == "DoNotSchedule" for c in pod.spec.topology_spread_constraints)
    return apart or spread or _wants_company(pod)
