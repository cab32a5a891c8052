"""How many copies of a pod fit now, and where: the scheduler's filters, asked after each copy where that matters."""

from collections.abc import Callable, Mapping

import msgspec

from lockgate.model.objects import Pod
from lockgate.scheduling.filters import checks, first
from lockgate.scheduling.node_fit import copies_that_fit
from lockgate.scheduling.ports import host_ports
from lockgate.scheduling.requests import pod_requests
from lockgate.scheduling.scene import NodeView, Scene


class Copies(msgspec.Struct, frozen=True, kw_only=True):
    """Copies by node, in the order of names, and the cluster with those copies in it."""

    where: Mapping[str, int]
    after: Scene

    @property
    def count(self) -> int:
        return sum(self.where.values())


def place_copies(pod: Pod, scene: Scene, wanted: int) -> Copies:
    """Place up to `wanted` copies.

    Copies that do not notice each other are counted by arithmetic, fullest node first, so that large gaps stay whole.
    Those with host ports, spread or pod affinity are placed one by one on the node that has fewest of them; another
    order might fit more.
    """
    return _one_by_one(pod, scene, wanted) if notices_itself(pod) else _by_arithmetic(pod, scene, wanted)


def copies_on(pod: Pod, scene: Scene) -> Callable[[NodeView], int]:
    """How many copies a node takes, for pods that do not notice each other; ask it about changed nodes as well."""
    asked, requests = checks(pod, scene), pod_requests(pod)
    return lambda view: 0 if first(asked, view) else copies_that_fit(requests, view.room)


def notices_itself(pod: Pod) -> bool:
    """Whether one copy changes where the next may go, beyond the room that it takes."""
    affinity = pod.spec.affinity
    terms = [affinity.pod_affinity, affinity.pod_anti_affinity] if affinity else []
    return (
        bool(host_ports(pod))
        or any(term is not None and term.required for term in terms)
        or any(c.when_unsatisfiable == "DoNotSchedule" for c in pod.spec.topology_spread_constraints)
    )


def _by_arithmetic(pod: Pod, scene: Scene, wanted: int) -> Copies:
    count = copies_on(pod, scene)
    fitting = sorted(((count(view), name) for name, view in scene.nodes.items()), key=lambda each: (each[0], each[1]))
    where: dict[str, int] = {}
    for possible, name in fitting:
        taken = min(possible, wanted - sum(where.values()))
        if taken:
            where[name] = taken
    return Copies(where=dict(sorted(where.items())), after=_with_copies(pod, scene, where))


def _with_copies(pod: Pod, scene: Scene, where: Mapping[str, int]) -> Scene:
    asked = pod_requests(pod)
    nodes = dict(scene.nodes)
    for name, count in where.items():
        view = nodes[name]
        room = view.room
        for _ in range(count):
            room = room.plus(asked)
        nodes[name] = msgspec.structs.replace(view, summed_up=room, pods=(*view.pods, *[pod] * count))
    return msgspec.structs.replace(scene, nodes=nodes)


def _one_by_one(pod: Pod, scene: Scene, wanted: int) -> Copies:
    where: dict[str, int] = {}
    while sum(where.values()) < wanted:
        asked = checks(pod, scene)
        fitting = [name for name, view in scene.nodes.items() if first(asked, view) is None]
        if not fitting:
            break
        chosen = min(fitting, key=lambda name: (where.get(name, 0), name))
        where[chosen] = where.get(chosen, 0) + 1
        scene = scene.with_pod(pod, chosen)
    return Copies(where=dict(sorted(where.items())), after=scene)
