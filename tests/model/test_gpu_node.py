"""A GPU node is one for `why`, for the capacity figures and for `fit`, whatever says that the devices are there."""

from sys import getrefcount

import msgspec
import pytest

from lockgate.capacity.fit import fit
from lockgate.capacity.node_capacity import gpu_nodes
from lockgate.diagnosis.views.gate_one import gate_one
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import Metadata
from lockgate.scheduling.scene import scene
from tests.capacity.build import cpu_node, gpu_pod

_LABELS = [
    ({"feature.node.kubernetes.io/pci-10de.present": "true"}, True),
    ({"nvidia.com/gpu.present": "true"}, True),
    ({"feature.node.kubernetes.io/pci-0302_10de_20b5.present": "true"}, True),
    ({"cloud.google.com/gke-accelerator": "nvidia-tesla-t4"}, True),
    ({"feature.node.kubernetes.io/pci-1002.present": "true"}, False),
    ({}, False),
]


@pytest.mark.parametrize(("labels", "is_gpu"), _LABELS)
def test_a_node_without_the_resource_is_told_by_its_labels_everywhere(labels: dict[str, str], is_gpu: bool) -> None:
    node = msgspec.structs.replace(cpu_node("a"), metadata=Metadata(name="a", labels=labels))
    asking, there = gpu_pod("p", 1), scene([node], ())
    assert is_gpu_node(node) == is_gpu
    assert bool(gate_one(asking, (node,), (), ()).rows) == is_gpu
    assert bool(gpu_nodes(there, {})) == is_gpu
    assert bool(fit(asking, there).gpu_nodes) == is_gpu


def test_nodes_that_were_asked_about_are_not_kept() -> None:
    node = cpu_node("a")
    before = getrefcount(node)
    assert not is_gpu_node(node)
    assert getrefcount(node) == before
