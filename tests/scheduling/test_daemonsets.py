"""Which nodes a DaemonSet targets: the silent DESIRED 0, said."""

from lockgate.scheduling.daemonsets import desired, target
from tests.scheduling.build import daemonset, node

DEPLOY = "nvidia.com/gpu.deploy.device-plugin"


def test_desired_is_zero_when_no_node_has_the_label_and_each_says_which() -> None:
    plugin = daemonset(nodeSelector={DEPLOY: "true"})
    nodes = [node("a"), node("b", labels={DEPLOY: "paused-for-driver-upgrade"})]
    assert desired(plugin, nodes) == 0
    assert [target(plugin, each).misses[0].seen for each in nodes] == [None, "paused-for-driver-upgrade"]


def test_a_custom_taint_keeps_it_away_and_is_named() -> None:
    tainted = node(taints=[{"key": "sku", "value": "gpu", "effect": "NoSchedule"}])
    assert [taint.key for taint in target(daemonset(), tainted).taints] == ["sku"]
    tolerant = daemonset(tolerations=[{"key": "sku", "operator": "Exists", "effect": "NoSchedule"}])
    assert target(tolerant, tainted).runs


def test_cordon_not_ready_and_pressure_never_keep_it_away() -> None:
    keys = ["node.kubernetes.io/unschedulable", "node.kubernetes.io/disk-pressure"]
    taints = [{"key": key, "effect": "NoSchedule"} for key in keys]
    taints.append({"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"})
    assert target(daemonset(), node(unschedulable=True, taints=taints)).runs


def test_a_not_ready_taint_with_effect_no_schedule_does_keep_it_away() -> None:
    taints = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    assert not target(daemonset(), node(taints=taints)).runs


def test_network_unavailable_is_tolerated_on_the_host_network_only() -> None:
    tainted = node(taints=[{"key": "node.kubernetes.io/network-unavailable", "effect": "NoSchedule"}])
    assert not target(daemonset(), tainted).runs
    assert target(daemonset(hostNetwork=True), tainted).runs


def test_a_template_pinned_to_one_node_leaves_out_the_others() -> None:
    pinned = daemonset(nodeName="a")
    assert target(pinned, node("a")).runs
    assert target(pinned, node("b")).pinned_to == "a"
