"""Node labels: what NVIDIA's operator made of 114 nodes, and the rules one by one."""

import json
from pathlib import Path
from typing import Any

import pytest

from lockgate.model import names
from lockgate.model.policy import PolicySpec, parse_spec
from lockgate.operands.labels import changes, is_mig_capable

TRUTH = Path(__file__).parents[1] / "truth"
CASES = [json.loads(line) for line in (TRUTH / "node_labels.jsonl").read_text().splitlines()]
DEFAULT = json.loads((TRUTH / "operands" / "default.json").read_text())["policy"]
GPU = {"feature.node.kubernetes.io/pci-10de.present": "true"}


def merged(base: Any, patch: Any) -> Any:
    """A JSON merge patch applied."""
    if not isinstance(patch, dict):
        return patch
    return {**base, **{key: merged((base or {}).get(key) or {}, value) for key, value in patch.items()}}


def policy(**patch: Any) -> PolicySpec:
    return parse_spec(merged(DEFAULT, patch))


def test_the_truth_holds_all_its_nodes() -> None:
    assert len(CASES) == 114
    assert {case["policy"] for case in CASES} == {"default", "sandbox", "sandbox-passthrough-default"}


@pytest.mark.parametrize("case", CASES, ids=[f"{case['policy']}/{case['node']}" for case in CASES])
def test_a_node_is_labelled_as_nvidias_operator_labels_it(case: dict[str, Any]) -> None:
    found = changes(case["before"], {}, policy(**case["policy_patch"]))
    assert {key: value for key, value in found.labels.items() if value is not None} == case["set"]
    assert sorted(key for key, value in found.labels.items() if value is None) == sorted(case["removed"])
    assert {key: value for key, value in found.annotations.items() if value} == case["annotations"]


@pytest.mark.parametrize("case", CASES, ids=[f"{case['policy']}/{case['node']}" for case in CASES])
def test_labelling_twice_changes_nothing(case: dict[str, Any]) -> None:
    spec = policy(**case["policy_patch"])
    first = changes(case["before"], {}, spec)
    after = {k: v for k, v in {**case["before"], **first.labels}.items() if v is not None}
    annotations = {k: v for k, v in first.annotations.items() if v is not None}
    assert not changes(after, annotations, spec)


def test_an_empty_value_counts_as_none() -> None:
    assert (
        changes({**GPU, "nvidia.com/gpu.deploy.driver": ""}, {}, policy()).labels["nvidia.com/gpu.deploy.driver"]
        == "true"
    )


def test_without_automatic_upgrades_the_annotation_goes() -> None:
    spec = policy(driver={"upgradePolicy": {"autoUpgrade": False}})
    assert changes(GPU, {names.UPGRADE_ENABLED: "true"}, spec).annotations == {names.UPGRADE_ENABLED: None}


def test_kata_has_a_device_plugin_of_its_own() -> None:
    spec = policy(sandboxWorkloads={"enabled": True, "defaultWorkload": "vm-passthrough", "mode": "kata"})
    labels = changes(GPU, {}, spec).labels
    assert "nvidia.com/gpu.deploy.kata-sandbox-device-plugin" in labels
    assert "nvidia.com/gpu.deploy.sandbox-device-plugin" not in labels


def test_a_vgpu_guest_is_never_mig_capable() -> None:
    assert not is_mig_capable({names.VGPU_HOST_DRIVER: "550", names.MIG_CAPABLE: "true"})


def test_a_mig_configuration_is_not_written_when_the_manager_is_off() -> None:
    spec = policy(migManager={"enabled": False})
    assert names.MIG_CONFIG not in changes({**GPU, names.MIG_CAPABLE: "true"}, {}, spec).labels


def test_what_a_person_set_before_discovery_came_is_kept() -> None:
    early = {names.DEPLOY_PREFIX + "device-plugin": "false"}
    assert changes(early, {}, policy()).labels == {}
    assert names.DEPLOY_PREFIX + "device-plugin" not in changes(early | GPU, {}, policy()).labels
