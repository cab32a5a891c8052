"""Required pod affinity and anti-affinity, in both directions: what the pod asks, and what pods already there forbid.

Source: kube-scheduler 1.37 plugins/interpodaffinity/filtering.go. `matchLabelKeys` need no care: the API server has
merged them into the selector when the pod was made.
"""

from collections.abc import Iterable, Iterator, Mapping

from lockgate.model.objects import Pod, PodAffinity, PodAffinityTerm
from lockgate.scheduling.refusal import Check, Refusal
from lockgate.scheduling.scene import NodeView, Scene
from lockgate.scheduling.selectors import matches_labels

_PLUGIN = "InterPodAffinity"
_NO_COMPANY = Refusal(plugin=_PLUGIN, reasons=("node(s) didn't match pod affinity rules",))
_BAD_COMPANY = Refusal(plugin=_PLUGIN, reasons=("node(s) didn't match pod anti-affinity rules",), resolvable=True)
_UNWANTED = Refusal(
    plugin=_PLUGIN, reasons=("node(s) didn't satisfy existing pods anti-affinity rules",), resolvable=True
)
Domain = tuple[str, str]
Namespaces = Mapping[str, Mapping[str, str]]


def check(pod: Pod, scene: Scene) -> Check | None:
    """The filter for one pod; None when neither it nor any pod there has a required term that concerns it."""
    wanted, avoided = _terms(pod, "pod_affinity"), _terms(pod, "pod_anti_affinity")
    forbidden = _domains_that_forbid(pod, scene)
    if not wanted and not avoided and not forbidden:
        return None
    company = _domains_with_company(pod, scene, wanted)
    bad_company = _domains_to_avoid(pod, scene, avoided)
    alone = not company and _concerns_all(wanted, pod, pod, scene.namespaces)

    def on(view: NodeView) -> Refusal | None:
        if not _has_company(wanted, company, view, alone):
            return _NO_COMPANY
        if any(domain in bad_company for domain in _domains_of(view, avoided)):
            return _BAD_COMPANY
        return _UNWANTED if forbidden & view.node.metadata.labels.items() else None

    return on


def concerns(term: PodAffinityTerm, owner: Pod, other: Pod, namespaces: Namespaces) -> bool:
    """Whether a term of one pod is about another: its namespace is meant, and its labels match."""
    if not matches_labels(term.label_selector, other.metadata.labels):
        return False
    if not term.namespaces and term.namespace_selector is None:
        return other.namespace == owner.namespace
    return other.namespace in term.namespaces or matches_labels(
        term.namespace_selector, namespaces.get(other.namespace, {})
    )


def needs_namespaces(pod: Pod) -> bool:
    """Whether any required term selects namespaces by their labels, so that those must be known."""
    terms = (*_terms(pod, "pod_affinity"), *_terms(pod, "pod_anti_affinity"))
    return any(term.namespace_selector is not None for term in terms)


def _terms(pod: Pod, which: str) -> tuple[PodAffinityTerm, ...]:
    affinity: PodAffinity | None = getattr(pod.spec.affinity, which, None)
    return affinity.required if affinity else ()


def _concerns_all(terms: tuple[PodAffinityTerm, ...], owner: Pod, other: Pod, namespaces: Namespaces) -> bool:
    return bool(terms) and all(concerns(term, owner, other, namespaces) for term in terms)


def _domains_of(view: NodeView, terms: Iterable[PodAffinityTerm]) -> Iterator[Domain]:
    labels = view.node.metadata.labels
    return ((term.topology_key, labels[term.topology_key]) for term in terms if term.topology_key in labels)


def _domains_with_company(pod: Pod, scene: Scene, terms: tuple[PodAffinityTerm, ...]) -> frozenset[Domain]:
    """Domains, for each term's key, that hold a pod which all the terms are about."""
    inhabited = (
        view
        for view in scene.nodes.values()
        if any(_concerns_all(terms, pod, other, scene.namespaces) for other in view.pods)
    )
    return frozenset(domain for view in inhabited for domain in _domains_of(view, terms))


def _domains_to_avoid(pod: Pod, scene: Scene, terms: tuple[PodAffinityTerm, ...]) -> frozenset[Domain]:
    """Domains that hold a pod which one of this pod's own anti-affinity terms is about."""
    return frozenset(
        domain
        for view in scene.nodes.values()
        for term in terms
        if any(concerns(term, pod, other, scene.namespaces) for other in view.pods)
        for domain in _domains_of(view, (term,))
    )


def _domains_that_forbid(pod: Pod, scene: Scene) -> frozenset[Domain]:
    """Domains of pods whose own anti-affinity is about this one."""
    return frozenset(
        domain
        for view in scene.nodes.values()
        for other in view.loners
        for term in _terms(other, "pod_anti_affinity")
        if concerns(term, other, pod, scene.namespaces)
        for domain in _domains_of(view, (term,))
    )


def _has_company(wanted: tuple[PodAffinityTerm, ...], company: frozenset[Domain], view: NodeView, alone: bool) -> bool:
    """Every wanted domain holds such a pod; or it would be the first of its kind, where the node has the keys."""
    domains = list(_domains_of(view, wanted))
    if len(domains) < len(wanted):
        return False
    return all(domain in company for domain in domains) or alone
