"""ClusterPolicies as types: NVIDIA's own are read unchanged, and nil means what NVIDIA's getters say."""

import json
from pathlib import Path

import msgspec
import pytest

from lockgate.model.policy import PolicySpec, parse_spec
from lockgate.model.policy.unknown import LAST_APPLIED, pruned_fields, unknown_fields

TRUTH = Path(__file__).parents[1] / "truth" / "operands"


def test_the_default_policy_of_nvidias_chart_has_no_field_that_we_do_not_know() -> None:
    policy = json.loads((TRUTH / "default.json").read_text())["policy"]
    assert unknown_fields(policy) == ()
    assert parse_spec(policy).driver.upgrade_policy is not None


def test_the_recorded_variants_have_no_field_that_we_do_not_know() -> None:
    for line in (TRUTH / "variants.jsonl").read_text().splitlines():
        assert unknown_fields(json.loads(line)["policy_patch"]) == ()


def test_a_field_that_the_api_server_prunes_is_named() -> None:
    written = {"driver": {"upgradePolicy": {"gpuPodDeletion": {}}, "env": [{"name": "A", "valueFrom": {}}]}, "pond": 1}
    assert unknown_fields(written) == (
        "spec.driver.upgradePolicy.gpuPodDeletion",
        "spec.driver.env[0].valueFrom",
        "spec.pond",
    )


def test_what_kubectl_applied_tells_what_was_pruned() -> None:
    assert pruned_fields({LAST_APPLIED: json.dumps({"spec": {"pond": 1}})}) == ("spec.pond",)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"spec": []}'])
def test_a_broken_annotation_tells_nothing(text: str) -> None:
    assert pruned_fields({LAST_APPLIED: text}) == ()


def test_nil_means_on_for_what_a_container_node_needs_and_off_for_the_rest() -> None:
    spec = PolicySpec()
    on = {"driver", "toolkit", "device_plugin", "dcgm", "dcgm_exporter", "gfd", "mig_manager"}
    off = {"node_status_exporter", "gds", "gdrcopy", "vgpu_manager", "vfio_manager", "sandbox_device_plugin"}
    assert {name for name in on | off if getattr(spec, name).on} == on
    assert spec.cdi.enabled


def test_false_is_false() -> None:
    assert not parse_spec({"driver": {"enabled": False}}).driver.on


def test_unknown_fields_are_dropped_as_the_api_server_drops_them() -> None:
    assert parse_spec({"pond": 1, "driver": {"gpuPodDeletion": {}}}) == PolicySpec()


def test_a_wrong_type_names_the_field() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"driver\.enabled"):
        parse_spec({"driver": {"enabled": "yes"}})
