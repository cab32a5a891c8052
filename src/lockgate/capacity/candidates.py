"""Changes of one node or of the pod itself that could make room: uncordon, tolerate, select otherwise, ask for less,
re-partition. Whether they help is for others to count.
"""

from collections.abc import Iterator

import msgspec

from lockgate.capacity.change import Candidate, Change, ChangeKind
from lockgate.capacity.copies import copies_on, place_copies
from lockgate.capacity.repartition import repartitions
from lockgate.capacity.single_devices import as_single_device
from lockgate.kit.quantity import whole
from lockgate.model import names
from lockgate.model.objects import Container, Node, Pod, Taint
from lockgate.scheduling.filters import checks
from lockgate.scheduling.refusal import Refusal
from lockgate.scheduling.requests import defaulted, pod_requests
from lockgate.scheduling.scene import NodeView, Scene, node_view
from lockgate.scheduling.selectors import Miss
from lockgate.scheduling.taints import (
    NODE_IS_SICK,
    UNSCHEDULABLE_KEY,
    taint_text,
    toleration_for,
    untolerated_taints,
)

Refused = tuple[tuple[Refusal, ...], NodeView]


def nearest(pod: Pod, scene: Scene, nodes: tuple[str, ...]) -> list[Refused]:
    """The nodes that refuse the pod, those with the fewest refusals first."""
    asked = checks(pod, scene)
    views = [scene.nodes[name] for name in nodes]
    refused = [(tuple(r for check in asked if (r := check(view))), view) for view in views]
    return sorted((each for each in refused if each[0]), key=lambda each: (len(each[0]), each[1].name))


def candidates(pod: Pod, scene: Scene, refused: list[Refused], nodes: tuple[str, ...]) -> Iterator[Candidate]:
    """What could be changed of each of these nodes, and of the pod for any node."""
    for refusals, view in refused:
        yield from _for_node(pod, scene, view, refusals)
    yield from _ask_less(pod, scene, nodes)


def _for_node(pod: Pod, scene: Scene, view: NodeView, refusals: tuple[Refusal, ...]) -> Iterator[Candidate]:
    """Changes of node or pod that would each remove all that stands in the way on one node."""
    plugins = {refusal.plugin for refusal in refusals}
    if plugins <= {"NodeUnschedulable", "TaintToleration"} and view.node.spec.unschedulable:
        yield _uncordon(pod, scene, view)
    if plugins == {"TaintToleration"}:
        yield from _tolerate(pod, scene, view)
    if plugins == {"NodeResourcesFit"}:
        yield from _repartition(pod, scene, view, refusals[0])
        yield from as_single_device(pod, scene, view)
    if plugins == {"NodeAffinity"} and (misses := _replaceable(pod, refusals)):
        yield _select(pod, scene, misses)


def _uncordon(pod: Pod, scene: Scene, view: NodeView) -> Candidate:
    spec = view.node.spec
    taints = tuple(taint for taint in spec.taints if taint.key != UNSCHEDULABLE_KEY)
    opened = msgspec.structs.replace(spec, unschedulable=False, taints=taints)
    node: Node = msgspec.structs.replace(view.node, spec=opened)
    change = Change(
        kind=ChangeKind.UNCORDON, text=f"uncordon node {view.name}", command=f"kubectl uncordon {view.name}"
    )
    after = scene.with_node(node_view(node, view.pods))
    return Candidate(change=change, pod=pod, scene=after, touched=frozenset((view.name,)))


def _tolerate(pod: Pod, scene: Scene, view: NodeView) -> Iterator[Candidate]:
    """Nothing where the node controller says that the node is not well: a pod that tolerates that gains nothing."""
    taints: tuple[Taint, ...] = untolerated_taints(view.node.spec.taints, pod.spec.tolerations)
    if any(taint.key.startswith(NODE_IS_SICK) for taint in taints):
        return
    tolerations = (*pod.spec.tolerations, *map(toleration_for, taints))
    change = Change(kind=ChangeKind.TOLERATE, text=f"let the pod tolerate {', '.join(map(taint_text, taints))}")
    yield Candidate(change=change, pod=_with_spec(pod, tolerations=tolerations), scene=scene)


def _repartition(pod: Pod, scene: Scene, view: NodeView, refusal: Refusal) -> Iterator[Candidate]:
    """Where GPU resources are all that is short, that MIG configuration of an idle node which takes most copies."""
    if not all(names.is_gpu_resource(shortage.resource) for shortage in refusal.shortages):
        return
    asked = [name for name in pod_requests(pod) if names.is_gpu_resource(name)]
    takes = copies_on(pod, scene)
    found = max(repartitions(view, asked), key=lambda each: takes(each.after), default=None)
    if found is not None:
        change = Change(
            kind=ChangeKind.REPARTITION,
            text=f"re-partition {view.name} as {found.config} (each GPU becomes {found.each})",
            command=f"kubectl label node {view.name} {names.MIG_CONFIG}={found.config} --overwrite",
        )
        after = scene.with_node(found.after)
        yield Candidate(change=change, pod=pod, scene=after, touched=frozenset((view.name,)))


def _replaceable(pod: Pod, refusals: tuple[Refusal, ...]) -> tuple[Miss, ...]:
    """The misses of a node when all of them are pairs of nodeSelector for which the node has another value."""
    misses = refusals[0].misses
    plain = all(miss.seen is not None and miss.key in pod.spec.node_selector for miss in misses)
    return misses if plain else ()


def _select(pod: Pod, scene: Scene, misses: tuple[Miss, ...]) -> Candidate:
    instead = {miss.key: miss.seen or "" for miss in misses}
    texts = ", ".join(f"{miss.key}={miss.seen} instead of {pod.spec.node_selector[miss.key]}" for miss in misses)
    selector = {**pod.spec.node_selector, **instead}
    change = Change(kind=ChangeKind.SELECT, text=f"select {texts}")
    return Candidate(change=change, pod=_with_spec(pod, node_selector=selector), scene=scene)


def _ask_less(pod: Pod, scene: Scene, nodes: tuple[str, ...]) -> Iterator[Candidate]:
    """Ask for as many of the GPU resource as the emptiest node has, where one container asks for all of it."""
    asking = [c for c in defaulted(pod.spec).containers if any(map(names.is_gpu_resource, c.resources.requests))]
    if len(asking) != 1:
        return
    for resource in filter(names.is_gpu_resource, asking[0].resources.requests):
        wanted = whole(asking[0].resources.requests[resource])
        largest = max((scene.nodes[name].room.headroom(resource) for name in nodes), default=0)
        for count in range(min(largest, wanted - 1), 0, -1):
            smaller = _asking(pod, asking[0], resource, count)
            if place_copies(smaller, scene, 1).count:
                text = f"ask for {count} {resource} instead of {wanted}"
                yield Candidate(change=Change(kind=ChangeKind.ASK_LESS, text=text), pod=smaller, scene=scene)
                break


def _asking(pod: Pod, container: Container, resource: str, count: int) -> Pod:
    was, less = container.resources, {resource: count}
    resources = msgspec.structs.replace(was, requests={**was.requests, **less}, limits={**was.limits, **less})
    changed = msgspec.structs.replace(container, resources=resources)
    containers = tuple(changed if each.name == container.name else each for each in pod.spec.containers)
    return _with_spec(pod, containers=containers)


def _with_spec(pod: Pod, **fields: object) -> Pod:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, **fields))
