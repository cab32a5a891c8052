"""A ClusterPolicy is untyped: whatever stands where a rule looks, `why` answers."""

from typing import Any

import pytest

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import CLUSTER, Target, parse_target
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = tuple(all_rules())
SETS = [{"name": n, "value": "true"} for n in ("MOFED_ENABLED", "GDS_ENABLED", "GDRCOPY_ENABLED")]
PLUGIN = {"name": "nvidia-device-plugin", "image": "x", "env": SETS}
BY_HAND = {"name": "c", "image": "x", "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]}
WORLD: dict[str, Any] = {
    "nodes": {"gpu-a": {}},
    "pods": {
        "default/set": {"like": "running", "spec": {"nodeName": "gpu-a", "containers": [BY_HAND]}},
        "default/waits": {},
        "gpu-operator/p": {"like": "plugin", "spec": {"nodeName": "gpu-a"}},
    },
    "daemon_sets": {
        "gpu-operator/nvidia-device-plugin-daemonset": {"spec": {"template": {"spec": {"containers": [PLUGIN]}}}}
    },
}


@pytest.mark.parametrize("part", ["toolkit", "driver", "devicePlugin", "gds", "gdrcopy", "mig", "cdi"])
@pytest.mark.parametrize(
    "value",
    ["x", 3, ["x"], {"env": "x"}, {"env": ["x", None, {}]}, {"rdma": "x"}, {"config": "x"}, {"config": {"name": 5}}],
)
def test_a_policy_of_another_shape_ends_no_rule(part: str, value: Any) -> None:
    facts = snapshot(WORLD | {"cluster_policies": {"policy": {"spec": {part: value}}}})
    named = (parse_target(name, "default") for name in ("pod/set", "pod/waits", "node/gpu-a"))
    for target in (*named, Target(CLUSTER, "")):
        assert diagnose(facts, target, RULES).headline
