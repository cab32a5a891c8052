"""Which labels go when the policy goes: ours, and nobody else's."""

from typing import Any

import pytest

from lockgate.operands.ownership import removal_patch


def node(labels: dict[str, str], **owners: list[str]) -> dict[str, Any]:
    fields = [
        {
            "manager": manager.replace("_", "-"),
            "fieldsV1": {"f:metadata": {"f:labels": {f"f:{label}": {} for label in owned}}},
        }
        for manager, owned in owners.items()
    ]
    return {"metadata": {"name": "a", "labels": labels, "managedFields": fields}}


def test_labels_of_operator_and_agents_go() -> None:
    found = node(
        {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": "2"},
        lockgate_operator=["nvidia.com/gpu.present"],
        lockgate_features=["nvidia.com/gpu.count"],
    )
    assert removal_patch(found) == {
        "metadata": {"labels": {"nvidia.com/gpu.count": None, "nvidia.com/gpu.present": None}}
    }


def test_what_a_person_set_stays() -> None:
    found = node({"nvidia.com/mig.config": "all-1g.5gb"}, kubectl_label=["nvidia.com/mig.config"])
    assert removal_patch(found) == {}


def test_what_a_person_set_to_the_same_value_stays() -> None:
    label = "nvidia.com/gpu.deploy.driver"
    found = node({label: "true"}, lockgate_operator=[label], kubectl_edit=[label])
    assert removal_patch(found) == {}


def test_labels_outside_nvidias_domain_stay() -> None:
    label = "feature.node.kubernetes.io/pci-10de.present"
    assert removal_patch(node({label: "true"}, lockgate_discovery=[label])) == {}


@pytest.mark.parametrize("key", ["nvidia.com/gpu-driver-upgrade-enabled", "lockgate.dev/something"])
def test_annotations_go_as_well(key: str) -> None:
    fields = {"manager": "lockgate-operator", "fieldsV1": {"f:metadata": {"f:annotations": {".": {}, f"f:{key}": {}}}}}
    found = {"metadata": {"name": "a", "annotations": {key: "true"}, "managedFields": [fields]}}
    assert removal_patch(found) == {"metadata": {"annotations": {key: None}}}


def test_a_node_without_managed_fields_is_left_alone() -> None:
    assert removal_patch({"metadata": {"name": "a", "labels": {"nvidia.com/gpu.present": "true"}}}) == {}
