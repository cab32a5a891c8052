"""One pod against every node: the first filter that refuses, its words, and what is left undecided."""

from lockgate.scheduling.filters import place, refusals
from lockgate.scheduling.scene import scene
from tests.scheduling.build import node, pod

GPU = "nvidia.com/gpu"
TAINT = {"key": "sku", "value": "gpu", "effect": "NoSchedule"}


def test_the_first_filter_that_refuses_is_the_only_one_counted() -> None:
    bad_in_every_way = node("a", unschedulable=True, taints=[TAINT], allocatable={"pods": "0"})
    asked = pod(requests={GPU: 1}, nodeSelector={"zone": "a"})
    placement = place(asked, scene([bad_in_every_way], []))
    assert placement.counts == {"node(s) were unschedulable": 1}
    plugins = [refusal.plugin for refusal in refusals(asked, scene([bad_in_every_way], []), "a")]
    assert plugins == ["NodeUnschedulable", "TaintToleration", "NodeAffinity", "NodeResourcesFit"]


def test_a_node_with_two_short_resources_counts_for_both() -> None:
    small = node("a", allocatable={"pods": "9", "cpu": "1", GPU: "0"})
    placement = place(pod(requests={"cpu": 2, GPU: 1}), scene([small, node("b")], []))
    assert placement.counts == {"Insufficient cpu": 1, f"Insufficient {GPU}": 1}
    assert placement.nodes_that_fit == ("b",)


def test_what_the_words_leave_out_is_kept() -> None:
    placement = place(
        pod(nodeSelector={"gpu": "A100"}), scene([node("a", taints=[TAINT]), node("b", labels={"gpu": "T4"})], [])
    )
    taint, selector = (verdict.refusal for verdict in placement.verdicts)
    assert taint is not None and taint.taints == ("sku=gpu:NoSchedule",)
    assert selector is not None and (selector.misses[0].wanted, selector.misses[0].seen) == ("gpu=A100", "T4")


def test_only_shortages_that_eviction_could_mend_are_resolvable() -> None:
    held = scene([node("a"), node("b", allocatable={"pods": "9", GPU: "1"})], [pod(requests={GPU: 8}, nodeName="a")])
    placement = place(pod(requests={GPU: 2}), held)
    assert [v.refusal is not None and v.refusal.resolvable for v in placement.verdicts] == [True, False]


def test_a_daemonset_pod_is_held_against_its_own_node_only() -> None:
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    placement = place(pod(affinity={"nodeAffinity": required}), scene([node("a"), node("b")], []))
    assert placement.counts == {"node(s) didn't satisfy plugin(s) [NodeAffinity]": 1}
    assert placement.nodes_that_fit == ("b",)


def test_affinity_terms_that_contradict_each_other_refuse_the_pod_altogether() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("a", "b")]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": fields}]}}
    placement = place(pod(affinity={"nodeAffinity": required}), scene([node("a"), node("b")], []))
    assert placement.rejected is not None and placement.rejected.message == "pod affinity terms conflict"
    assert placement.nodes_that_fit == ()


def test_what_is_not_modelled_is_named() -> None:
    asked = pod(
        schedulerName="kai-scheduler",
        resourceClaims=[{"name": "gpu"}],
        schedulingGates=[{"name": "kueue.x-k8s.io/admission"}],
        volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
    )
    named = place(asked, scene([node()], [])).unmodelled
    assert [text.split()[0] for text in named] == ["volumes:", "scheduler", "device", "scheduling"]
    assert place(pod(schedulerName="default-scheduler"), scene([node()], [])).unmodelled == ()


def test_a_scene_changes_by_values() -> None:
    before = scene([node("a")], [])
    after = before.with_pod(pod("x", requests={GPU: 8}), "a")
    assert place(pod(requests={GPU: 1}), before).nodes_that_fit == ("a",)
    assert place(pod(requests={GPU: 1}), after).nodes_that_fit == ()
    assert place(pod(requests={GPU: 1}), after.without_pods("a", [("default", "x")])).nodes_that_fit == ("a",)
