"""GPUs that a pod has without asking for one of NVIDIA's: the answer says which, and never that it has none."""

from typing import Any

import pytest

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = all_rules()


def _said(scheduler: str = "default-scheduler", annotations: dict[str, str] | None = None, **limits: str) -> str:
    main: dict[str, Any] = {"name": "main", "image": "app:1", "resources": {"limits": limits}}
    spec = {"nodeName": "gpu-a", "schedulerName": scheduler, "containers": [main]}
    pod = {"like": "running", "metadata": {"annotations": annotations or {}}, "spec": spec}
    facts = snapshot({"nodes": {"gpu-a": {}}, "pods": {"default/x": pod}})
    return diagnose(facts, parse_target("pod/x", "default"), RULES).headline


@pytest.mark.parametrize("key", ["gpu-fraction", "gpu-memory"])
def test_a_share_is_named_where_another_scheduler_gives_it(key: str) -> None:
    assert f"with a share of a GPU from kai-scheduler ({key}: 1)" in _said("kai-scheduler", {key: "1"})


def test_nobody_gives_a_share_where_kube_scheduler_places_the_pod() -> None:
    assert "asks for no GPU, so it has none" in _said(annotations={"gpu-fraction": "0.5"})


@pytest.mark.parametrize("resource", ["amd.com/gpu", "gpu.intel.com/i915", "google.com/tpu"])
def test_devices_of_another_maker_are_named(resource: str) -> None:
    assert f"with its {resource}, which is not NVIDIA's" in _said(**{resource: "1"})


def test_a_device_that_is_no_gpu_is_none() -> None:
    assert "asks for no GPU, so it has none" in _said(**{"rdma/hca": "1"})
