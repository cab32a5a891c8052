"""The objects of an operand in the cluster: applied when they differ from what was applied last, else removed."""

from collections.abc import Iterable
from typing import Final

from lockgate.controllers.settings import MANAGER
from lockgate.kube.api import Api
from lockgate.kube.errors import NotFound
from lockgate.kube.resources import PODS, RUNTIMECLASSES, find
from lockgate.model.objects import DaemonSet
from lockgate.model.pod_state import is_ready, node_of, trouble
from lockgate.operands.context import HASH, Context
from lockgate.operands.manifests import Manifest
from lockgate.operands.operand import Operand
from lockgate.operands.prerequisites import LABELS

Identity = tuple[str, str, str]
PODS_READ: Final = 20


class Applied:
    """What this process applied: hash and resulting generation, so that an unchanged object is not sent again.

    A change of the spec by anyone raises the generation, and the next pass puts it right. Empty after a restart: then
    everything is applied once more, which changes nothing.
    """

    def __init__(self) -> None:
        self._known: dict[Identity, tuple[str, int]] = {}
        self._gone: set[str] = set()

    def clear(self) -> None:
        self._known.clear()
        self._gone.clear()

    def holds(self, manifest: Manifest, live: DaemonSet | None) -> bool:
        known = self._known.get(identity(manifest))
        if known is None or known[0] != manifest["metadata"]["annotations"][HASH]:
            return False
        return manifest["kind"] != "DaemonSet" or (live is not None and live.metadata.generation == known[1])

    def note(self, manifest: Manifest, answer: Manifest) -> None:
        generation = answer["metadata"].get("generation", 0)
        self._known[identity(manifest)] = (manifest["metadata"]["annotations"][HASH], generation)

    def is_gone(self, operand: Operand) -> bool:
        """Whether the operand was removed before, and not applied since."""
        return operand.state in self._gone

    def note_gone(self, operand: Operand) -> None:
        self._gone.add(operand.state)
        for gone in operand.objects:
            self._known.pop(gone, None)

    def note_wanted(self, operand: Operand) -> None:
        self._gone.discard(operand.state)


def identity(manifest: Manifest) -> Identity:
    return manifest["apiVersion"], manifest["kind"], manifest["metadata"]["name"]


async def apply(api: Api, operand: Operand, context: Context, applied: Applied, live: Iterable[DaemonSet] = ()) -> None:
    """Apply what the operand should be. Raises ImageError and the errors of the door."""
    applied.note_wanted(operand)
    known = {daemonset.name: daemonset for daemonset in live}
    wanted = operand.desired(context)
    for manifest in wanted:
        if not applied.holds(manifest, known.get(manifest["metadata"]["name"])):
            applied.note(manifest, await api.apply(manifest, MANAGER))
    if operand.daemonset == "":
        await _prune_runtime_classes(api, {manifest["metadata"]["name"] for manifest in wanted})


async def _prune_runtime_classes(api: Api, wanted: set[str]) -> None:
    """Remove classes that an earlier policy had (another name, CDI on)."""
    selector = ",".join(f"{key}={value}" for key, value in LABELS.items())
    for found in await api.list(RUNTIMECLASSES, label_selector=selector):
        if found.name not in wanted:
            await api.delete(RUNTIMECLASSES, found.name, uid=found.metadata.uid)


async def remove(api: Api, operand: Operand, namespace: str, applied: Applied) -> None:
    """Delete an operand's objects; those that are not there are no error."""
    if applied.is_gone(operand):
        return
    for api_version, kind, name in operand.objects:
        resource = find(api_version, kind)
        try:
            await api.delete(resource, name, namespace if resource.namespaced else None)
        except NotFound:
            continue
    applied.note_gone(operand)


async def troubles(api: Api, daemonset: DaemonSet) -> dict[str, str]:
    """Node -> what its pod of a DaemonSet waits for."""
    labels = daemonset.spec.selector.match_labels
    selector = ",".join(f"{key}={value}" for key, value in labels.items())
    pods = await api.list(PODS, daemonset.namespace, label_selector=selector, keep=lambda pod: not is_ready(pod))
    return {node_of(pod): trouble(pod) for pod in pods[:PODS_READ]}
