"""Topology spread constraints that forbid (`DoNotSchedule`): no domain may grow too full against the emptiest.

Source: kube-scheduler 1.37 plugins/podtopologyspread. The scheduler's own default constraints only prefer, so a pod
without constraints is never refused here.
"""

from collections.abc import Iterable, Mapping

import msgspec

from lockgate.model.objects import LabelRequirement, LabelSelector, Pod, TopologySpreadConstraint
from lockgate.scheduling.refusal import Check, Refusal
from lockgate.scheduling.scene import NodeView, Scene
from lockgate.scheduling.selectors import matches_labels, matches_node
from lockgate.scheduling.taints import untolerated_taint

_PLUGIN = "PodTopologySpread"
_NO_MATCH = "node(s) didn't match pod topology spread constraints"
_TOO_FULL = Refusal(plugin=_PLUGIN, reasons=(_NO_MATCH,), resolvable=True)
_NO_LABEL = Refusal(plugin=_PLUGIN, reasons=(f"{_NO_MATCH} (missing required label)",))


class _Spread(msgspec.Struct, frozen=True, kw_only=True):
    """One constraint with the pods that match it counted by domain."""

    constraint: TopologySpreadConstraint
    counts: Mapping[str, int]
    counts_itself: bool

    def refuses(self, view: NodeView) -> Refusal | None:
        domain = view.node.metadata.labels.get(self.constraint.topology_key)
        if domain is None:
            return _NO_LABEL
        skew = self.counts.get(domain, 0) + self.counts_itself - self._emptiest()
        return _TOO_FULL if skew > self.constraint.max_skew else None

    def _emptiest(self) -> int:
        """Fewest matching pods in an eligible domain: 0 while there are fewer domains than `minDomains`."""
        if len(self.counts) < (self.constraint.min_domains or 1):
            return 0
        return min(self.counts.values())


def check(pod: Pod, scene: Scene, gone: Iterable[Pod] = ()) -> Check | None:
    """The filter for one pod; None when no constraint of it forbids anything.

    `gone` are pods that preemption has thought away. The scheduler takes each of them off the counts, also those that
    are terminating and that it never counted (updateWithPod, 1.37).
    """
    constraints = [c for c in pod.spec.topology_spread_constraints if c.when_unsatisfiable == "DoNotSchedule"]
    if not constraints:
        return None
    spreads = _spreads(pod, constraints, scene.nodes.values(), tuple(gone))

    def on(view: NodeView) -> Refusal | None:
        return next((refusal for spread in spreads if (refusal := spread.refuses(view))), None)

    return on


def _spreads(
    pod: Pod, constraints: list[TopologySpreadConstraint], views: Iterable[NodeView], gone: tuple[Pod, ...]
) -> list[_Spread]:
    # Only nodes that carry the keys of every constraint take part.
    keys = {constraint.topology_key for constraint in constraints}
    taking_part = [view for view in views if keys <= view.node.metadata.labels.keys()]
    return [_spread(pod, constraint, taking_part, gone) for constraint in constraints]


def _spread(pod: Pod, constraint: TopologySpreadConstraint, views: list[NodeView], gone: tuple[Pod, ...]) -> _Spread:
    selector = _selector(pod, constraint)
    counts: dict[str, int] = {}
    for view in views:
        if _eligible(pod, constraint, view):
            domain = view.node.metadata.labels[constraint.topology_key]
            matching = _matching(view, selector, pod.namespace)
            counts[domain] = counts.get(domain, 0) + matching - _never_counted(view, selector, pod.namespace, gone)
    return _Spread(constraint=constraint, counts=counts, counts_itself=matches_labels(selector, pod.metadata.labels))


def _eligible(pod: Pod, constraint: TopologySpreadConstraint, view: NodeView) -> bool:
    if constraint.node_affinity_policy != "Ignore" and not matches_node(pod.spec, view.node):
        return False
    return constraint.node_taints_policy != "Honor" or not untolerated_taint(view.node, pod.spec.tolerations)


def _matching(view: NodeView, selector: LabelSelector | None, namespace: str) -> int:
    if _is_empty(selector):
        return 0
    return sum(
        other.namespace == namespace
        and other.metadata.deletion_timestamp is None
        and matches_labels(selector, other.metadata.labels)
        for other in view.pods
    )


def _never_counted(view: NodeView, selector: LabelSelector | None, namespace: str, gone: tuple[Pod, ...]) -> int:
    """Pods that are taken off the counts of a node though they were never in them."""
    return sum(
        other.spec.node_name == view.name
        and other.namespace == namespace
        and other.metadata.deletion_timestamp is not None
        and matches_labels(selector, other.metadata.labels)
        for other in gone
    )


def _selector(pod: Pod, constraint: TopologySpreadConstraint) -> LabelSelector | None:
    """The constraint's selector with the pod's own values of `matchLabelKeys`; those are ignored without a selector."""
    labels = pod.metadata.labels
    own = tuple(
        LabelRequirement(key=key, operator="In", values=(labels[key],))
        for key in constraint.match_label_keys
        if key in labels
    )
    selector = constraint.label_selector
    if selector is None or not own:
        return selector
    return msgspec.structs.replace(selector, match_expressions=(*selector.match_expressions, *own))


def _is_empty(selector: LabelSelector | None) -> bool:
    return selector is not None and not selector.match_labels and not selector.match_expressions
