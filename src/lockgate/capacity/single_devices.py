"""A MIG device where the device plugin's strategy is `single`: it has no resource of its own there.

The pod has to ask for `nvidia.com/gpu` and to select the product that feature discovery gives such devices.
"""

from collections.abc import Iterator

import msgspec

from lockgate.capacity.change import Candidate, Change, ChangeKind
from lockgate.capacity.cuttable import has_single
from lockgate.capacity.demand import gpu_requests
from lockgate.capacity.repartition import as_single
from lockgate.model import names
from lockgate.model.objects import Container, Pod
from lockgate.scheduling.scene import NodeView, Scene


def as_single_device(pod: Pod, scene: Scene, view: NodeView) -> Iterator[Candidate]:
    """The pod asking for `nvidia.com/gpu` of the right product, on the node as it is, or cut so first."""
    asked = list(gpu_requests(pod))
    if len(asked) != 1 or not asked[0].startswith(names.MIG_PREFIX):
        return
    profile = asked[0].removeprefix(names.MIG_PREFIX)
    if product := has_single(view, profile):
        yield _asked_otherwise(pod, scene, asked[0], product)
    elif (made := as_single(view, profile)) is not None:
        cut, product = made
        after = _asked_otherwise(pod, scene.with_node(cut.after), asked[0], product)
        change = Change(
            kind=ChangeKind.REPARTITION,
            text=f"re-partition {view.name} as {cut.config} (each GPU becomes {cut.each}), and {after.change.text}",
            command=f"kubectl label node {view.name} {names.MIG_CONFIG}={cut.config} --overwrite",
        )
        yield msgspec.structs.replace(after, change=change)


def _asked_otherwise(pod: Pod, scene: Scene, resource: str, product: str) -> Candidate:
    containers = tuple(_renamed(container, resource) for container in pod.spec.containers)
    init = tuple(_renamed(container, resource) for container in pod.spec.init_containers)
    selector = {**pod.spec.node_selector, names.GPU_PRODUCT: product}
    spec = msgspec.structs.replace(pod.spec, containers=containers, init_containers=init, node_selector=selector)
    change = Change(
        kind=ChangeKind.SELECT,
        text=f"ask for {names.GPU} with nodeSelector {names.GPU_PRODUCT}={product} instead of {resource}: the MIG "
        "strategy is single, and devices have no name of their own",
    )
    return Candidate(change=change, pod=msgspec.structs.replace(pod, spec=spec), scene=scene)


def _renamed(container: Container, resource: str) -> Container:
    resources = msgspec.structs.replace(
        container.resources,
        requests=_with_key(container.resources.requests, resource),
        limits=_with_key(container.resources.limits, resource),
    )
    return msgspec.structs.replace(container, resources=resources)


def _with_key(amounts: dict[str, str | int | float], resource: str) -> dict[str, str | int | float]:
    return {names.GPU if name == resource else name: amount for name, amount in amounts.items()}
