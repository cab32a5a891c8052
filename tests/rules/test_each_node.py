"""What a rule finds on three nodes is told once, and of all three: of a pod that waits and of the whole cluster."""

from typing import Any

import pytest

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import CLUSTER, Target, parse_target
from lockgate.model.finding import Diagnosis, Finding
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = tuple(all_rules())
NODES = ("gpu-a", "gpu-b", "gpu-c")
GPU = "nvidia.com/gpu"
SEVEN = {"nvidia.com/mig-1g.5gb": "7"}
BARE = {"status": {"capacity": {GPU: None}, "allocatable": {GPU: None}}}
UNLABELLED = {
    "feature.node.kubernetes.io/pci-10de.present": None,
    "nvidia.com/gpu.present": None,
    "nvidia.com/gpu.product": None,
    "nvidia.com/gpu.deploy.device-plugin": None,
}
NOT_REGISTERED = f'Resource "{GPU}" was requested but not registered'
SHARING = "version: v1\nsharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 8}]}}\n"
HELD = {
    f"ml/{node}-#": {"times": 2, "like": "running", "spec": {"nodeName": node, "containers": [{"resources": one}]}}
    for one in ({"requests": {GPU: "1"}, "limits": {GPU: "1"}},)
    for node in NODES
}


def _labelled(**labels: str | None) -> dict[str, Any]:
    return {"metadata": {"labels": labels}}


def _asking(count: str, **requests: str) -> dict[str, Any]:
    resources = {"limits": {GPU: count}, "requests": {GPU: count, **requests}}
    return {"spec": {"containers": [{"name": "main", "resources": resources}]}}


def _three(node: dict[str, Any]) -> dict[str, Any]:
    return dict.fromkeys(NODES, node)


WORLDS: dict[str, dict[str, Any]] = {
    "devices/two-plugins": {
        "nodes": _three({}),
        "daemon_sets": {
            f"{space}/nvidia-device-plugin": {"spec": {"template": {"spec": {"tolerations": [{"operator": "Exists"}]}}}}
            for space in ("gpu-operator", "kube-system")
        },
        "pods": {"default/x": _asking("3")},
    },
    "devices/stale-name": {
        "nodes": _three({"status": {"capacity": SEVEN, "allocatable": {GPU: "0", **SEVEN}}}),
        "pods": {"default/x": {}, "gpu-operator/p": {"like": "plugin", "spec": {"nodeName": "gpu-a"}}},
    },
    "devices/mig-layout-invalid": {
        "nodes": _three(BARE | _labelled(**{"nvidia.com/gpu.product": "A100-MIG-INVALID"})),
        "pods": {"default/x": {}},
    },
    "devices/driver-hangs-with-mig": {
        "nodes": _three(
            _labelled(**{"nvidia.com/cuda.driver-version.full": "570.124.06"}) | {"status": {"capacity": SEVEN}}
        ),
        "pods": {"default/x": {}},
    },
    "devices/fewer-than-hardware": {
        "nodes": _three(_labelled(**{"karpenter.k8s.aws/instance-gpu-count": "4"})),
        "pods": {"default/x": _asking("4")},
    },
    "devices/sharing-not-applied": {
        "nodes": _three(_labelled(**{"nvidia.com/gpu.count": "2", "nvidia.com/device-plugin.config": "t4"})),
        "pods": {"default/x": {}, **HELD},
        "cluster_policies": {"cluster-policy": {"spec": {"devicePlugin": {"config": {"name": "sharing"}}}}},
        "config_maps": {"gpu-operator/sharing": {"data": {"t4": SHARING}}},
    },
    "discovery/pci-label-shape": {
        "nodes": _three(
            BARE | _labelled(**UNLABELLED, **{"feature.node.kubernetes.io/pci-0302_10de_20b5.present": "true"})
        ),
        "pods": {"default/x": {}},
    },
    "nodes/for-machines": {
        "nodes": _three(BARE | _labelled(**{"nvidia.com/gpu.workload.config": "vm-passthrough"})),
        "pods": {"default/x": {}},
    },
    "operands/plugin-not-installed": {"nodes": _three(BARE), "daemon_sets": {}, "pods": {"default/x": {}}},
    "autoscaling/node-not-initialized": {
        "nodes": _three(BARE | _labelled(**UNLABELLED)),
        "pods": {"default/x": {}},
        "node_claims": {
            f"claim-{node}": {
                "status": {
                    "nodeName": node,
                    "conditions": [{"type": "Initialized", "status": "False", "message": NOT_REGISTERED}],
                }
            }
            for node in NODES
        },
    },
    "scheduling/wrong-name": {
        "nodes": _three({"status": {"capacity": {GPU: None, **SEVEN}, "allocatable": {GPU: None, **SEVEN}}}),
        "pods": {"default/x": {}},
    },
    "scheduling/other-resource": {"nodes": _three({}), "pods": {"default/x": _asking("1", cpu="64")}},
}


@pytest.mark.parametrize("target", [parse_target("pod/x", "default"), Target(CLUSTER, "")], ids=["pod", "cluster"])
@pytest.mark.parametrize("rule_id", WORLDS)
def test_all_three_nodes_are_named_once(rule_id: str, target: Target) -> None:
    found = _of(rule_id, diagnose(snapshot(WORLDS[rule_id]), target, RULES))
    assert len(found) == 1
    told = found[0].summary
    assert [node for node in NODES if node not in told] == [], told
    assert "more like these" not in str(found[0].evidence)


def _of(rule_id: str, diagnosis: Diagnosis) -> list[Finding]:
    return [f for f in diagnosis.findings if f.id == rule_id]


def test_a_node_whose_plugin_is_gone_for_a_reason_of_its_own_does_not_follow_from_two_plugins_on_another() -> None:
    lost = {"status": {"allocatable": {GPU: "0"}}}
    second = {"spec": {"template": {"spec": {"nodeSelector": {"cloud": "yes"}, "containers": [{"name": "p"}]}}}}
    facts = snapshot(
        {
            "nodes": {"gpu-a": lost | _labelled(cloud="yes"), "gpu-b": lost},
            "daemon_sets": {
                "gpu-operator/nvidia-device-plugin-daemonset": {"spec": {"template": {"spec": {}}}},
                "kube-system/nvidia-device-plugin-daemonset": second,
            },
            "pods": {"default/x": {}},
        }
    )
    findings = diagnose(facts, parse_target("pod/x", "default"), RULES).findings
    gone = {f.follows: f.summary for f in findings if f.id == "operands/plugin-gone"}
    assert "gpu-a" in gone["devices/two-plugins"]
    assert "gpu-b" in gone[""]
