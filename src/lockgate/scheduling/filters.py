"""The scheduler's filters in its order, and what they answer for one pod on every node.

On each node the first filter that refuses ends the search, as in the scheduler, so that counts and words are those of
its event. Source: kube-scheduler 1.37 apis/config/v1/default_plugins.go, runtime/framework.go, schedule_one.go.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import msgspec

from lockgate.model.objects import Pod
from lockgate.scheduling import pod_affinity, ports, spread, volumes
from lockgate.scheduling.causes import TAINT_REASON
from lockgate.scheduling.node_fit import shortages
from lockgate.scheduling.refusal import Check, Refusal, Rejected
from lockgate.scheduling.requests import pod_requests
from lockgate.scheduling.scene import NodeView, Scene
from lockgate.scheduling.selectors import matches_node, node_misses, pinned_names
from lockgate.scheduling.taints import is_cordoned_for, taint_text, untolerated_taints

_CORDONED = Refusal(plugin="NodeUnschedulable", reasons=("node(s) were unschedulable",))
_NAME = Refusal(plugin="NodeName", reasons=("node(s) didn't match the requested node name",))
_PINNED = Refusal(plugin="NodeAffinity", reasons=("node(s) didn't satisfy plugin(s) [NodeAffinity]",))
_SELECTOR_REASON = "node(s) didn't match Pod's node affinity/selector"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What the filters say of one node: None means that the pod fits there."""

    node: str
    refusal: Refusal | None

    @property
    def fits(self) -> bool:
        return self.refusal is None


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """One pod held against every node. `rejected` is said before any node is looked at and refuses all of them."""

    verdicts: tuple[Verdict, ...]
    rejected: Rejected | None = None
    unmodelled: tuple[str, ...] = ()

    @property
    def nodes_that_fit(self) -> tuple[str, ...]:
        """Names of the nodes that the scheduler could choose, in the order of the scene."""
        return () if self.rejected else tuple(verdict.node for verdict in self.verdicts if verdict.fits)

    @property
    def counts(self) -> Mapping[str, int]:
        """Nodes by reason, as the scheduler's event counts them."""
        counts: dict[str, int] = {}
        for verdict in self.verdicts:
            for reason in verdict.refusal.reasons if verdict.refusal else ():
                counts[reason] = counts.get(reason, 0) + 1
        return counts


def place(pod: Pod, scene: Scene) -> Placement:
    """Ask every filter for every node, stopping at the first refusal of each node as the scheduler does."""
    asked = checks(pod, scene)
    return Placement(
        verdicts=tuple(Verdict(node=name, refusal=first(asked, view)) for name, view in scene.nodes.items()),
        rejected=_rejected(pod, scene),
        unmodelled=unmodelled(pod, scene),
    )


def refusals(pod: Pod, scene: Scene, node: str) -> tuple[Refusal, ...]:
    """Every filter that refuses one node, not the first alone: all that must change before the pod fits there."""
    view = scene.nodes[node]
    return tuple(refusal for check in checks(pod, scene) if (refusal := check(view)))


def checks(pod: Pod, scene: Scene, gone: Iterable[Pod] = ()) -> tuple[Check, ...]:
    """The filters prepared for one pod, first to last, to be asked about any number of nodes.

    What is counted across nodes (spread, pod affinity) is that of the scene; `gone` are pods that preemption has
    thought away from it. A pod that is refused altogether gets one check, which refuses every node.
    """
    return _refused_altogether(pod, scene) or tuple(_checks(pod, scene, _resources(pod), gone))


def checks_but_room(pod: Pod, scene: Scene) -> tuple[Check, ...]:
    """The same without NodeResourcesFit: where the pod could go if only there were room."""
    return _refused_altogether(pod, scene) or tuple(_checks(pod, scene, None))


def looks_beyond(pod: Pod, scene: Scene) -> bool:
    """Whether what is on other nodes decides about one: by the pod's spread or affinity, or by that of pods there."""
    affinity = pod.spec.affinity
    return (
        bool(pod.spec.topology_spread_constraints)
        or (affinity is not None and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None))
        or any(view.loners for view in scene.nodes.values())
    )


def unmodelled(pod: Pod, scene: Scene) -> tuple[str, ...]:
    """What could keep the pod away and is not decided here, in words for a person."""
    found = list(volumes.unmodelled(pod, scene.storage))
    if pod.spec.scheduler_name not in ("", "default-scheduler"):
        found.append(f'scheduler "{pod.spec.scheduler_name}" decides by rules of its own')
    if pod_affinity.needs_namespaces(pod) and not scene.namespaces:
        found.append("pod affinity: namespaceSelector, since the labels of namespaces were not read")
    if pod.spec.resource_claims:
        found.append(f"device claims {', '.join(claim.name for claim in pod.spec.resource_claims)}")
    if pod.spec.scheduling_gates:
        found.append(f"scheduling gates {', '.join(gate.name for gate in pod.spec.scheduling_gates)} hold it back")
    return tuple(found)


def first(asked: tuple[Check, ...], view: NodeView) -> Refusal | None:
    """The first refusal of a node, or None when the pod fits there."""
    return next((refusal for check in asked if (refusal := check(view))), None)


# --- the filters, first to last


def _refused_altogether(pod: Pod, scene: Scene) -> tuple[Check, ...]:
    rejected = _rejected(pod, scene)
    return (_when(lambda _: True, _of(rejected)),) if rejected else ()


def _checks(pod: Pod, scene: Scene, resources: Check | None, gone: Iterable[Pod] = ()) -> Iterator[Check]:
    storage = scene.storage
    found = (
        _pinned(pod),
        _node_name(pod),
        _cordon(pod),
        _taints(pod),
        _selector(pod),
        ports.check(pod),
        resources,
        volumes.check_binding(pod, storage) if storage else None,
        volumes.check_zone(pod, storage) if storage else None,
        spread.check(pod, scene, gone),
        pod_affinity.check(pod, scene),
    )
    return (check for check in found if check is not None)


def _rejected(pod: Pod, scene: Scene) -> Rejected | None:
    if pinned_names(pod.spec) == frozenset():
        return Rejected(plugin="NodeAffinity", message="pod affinity terms conflict")
    return volumes.rejection(pod, scene.storage) if scene.storage else None


def _of(rejected: Rejected) -> Refusal:
    return Refusal(plugin=rejected.plugin, reasons=(rejected.message,))


def _when(refused: Callable[[NodeView], bool], refusal: Refusal) -> Check:
    return lambda view: refusal if refused(view) else None


def _pinned(pod: Pod) -> Check | None:
    """A pod whose affinity names its nodes (as those of a DaemonSet do) is held against no other node."""
    names = pinned_names(pod.spec)
    return None if names is None else _when(lambda view: view.name not in names, _PINNED)


def _node_name(pod: Pod) -> Check | None:
    wanted = pod.spec.node_name
    return _when(lambda view: view.name != wanted, _NAME) if wanted else None


def _cordon(pod: Pod) -> Check:
    return _when(lambda view: is_cordoned_for(view.node, pod.spec.tolerations), _CORDONED)


def _taints(pod: Pod) -> Check:
    def on(view: NodeView) -> Refusal | None:
        taints = untolerated_taints(view.node.spec.taints, pod.spec.tolerations)
        if not taints:
            return None
        return Refusal(plugin="TaintToleration", reasons=(TAINT_REASON,), taints=tuple(map(taint_text, taints)))

    return on


def _selector(pod: Pod) -> Check | None:
    affinity = pod.spec.affinity and pod.spec.affinity.node_affinity
    if not pod.spec.node_selector and not (affinity and affinity.required):
        return None

    def on(view: NodeView) -> Refusal | None:
        if matches_node(pod.spec, view.node):
            return None
        return Refusal(plugin="NodeAffinity", reasons=(_SELECTOR_REASON,), misses=node_misses(pod.spec, view.node))

    return on


def _resources(pod: Pod) -> Check:
    asked = pod_requests(pod)

    def on(view: NodeView) -> Refusal | None:
        short = shortages(asked, view.room)
        if not short:
            return None
        return Refusal(
            plugin="NodeResourcesFit",
            reasons=tuple(shortage.reason for shortage in short),
            resolvable=not any(shortage.unresolvable for shortage in short),
            shortages=short,
        )

    return on
