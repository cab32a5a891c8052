"""What a pod that is not ready waits for, in a few words, on which node."""

from typing import Any

import msgspec
import pytest

from lockgate.controllers.operand_objects import node_of, trouble
from lockgate.model.objects import Pod


def pod(status: dict[str, Any], **spec: Any) -> Pod:
    return msgspec.convert({"metadata": {"name": "p"}, "spec": spec, "status": status}, Pod)


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    return {"waiting": {"reason": reason, "message": message}}


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (
            {"initContainerStatuses": [{"name": "toolkit-validation", "state": {"running": {}}}]},
            "toolkit-validation is running",
        ),
        (
            {"containerStatuses": [{"name": "main", "state": waiting("ImagePullBackOff", "no such image")}]},
            "main ImagePullBackOff no such image",
        ),
        (
            {"containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 2, "reason": "Error"}}}]},
            "main ended with 2 (Error)",
        ),
        (
            {
                "initContainerStatuses": [{"name": "first", "ready": True, "state": {"terminated": {"exitCode": 0}}}],
                "containerStatuses": [{"name": "main", "state": waiting("PodInitializing")}],
                "phase": "Pending",
            },
            "Pending",
        ),
        (
            {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "no cpu"}]},
            "no cpu",
        ),
        ({}, "unknown"),
    ],
)
def test_the_first_container_that_has_not_got_there_is_named(status: dict[str, Any], says: str) -> None:
    assert trouble(pod(status)) == says


def test_a_pod_is_named_by_the_node_it_is_for_even_before_it_is_there() -> None:
    field = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gpu-a"]}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [field]}}
    assert node_of(pod({}, affinity={"nodeAffinity": required})) == "gpu-a"
    assert node_of(pod({}, nodeName="gpu-b")) == "gpu-b"
    assert node_of(pod({})) == "p"
