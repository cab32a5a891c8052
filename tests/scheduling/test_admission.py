"""What the API server adds to a pod by its RuntimeClass, and which pods it refuses."""

from typing import Any

import msgspec
import pytest

from lockgate.model.objects import PodSpec, PriorityClass, RuntimeClass
from lockgate.scheduling.admission import admit
from lockgate.scheduling.requests import spec_requests

GPU = "nvidia.com/gpu"
KATA = {
    "metadata": {"name": "kata"},
    "handler": "kata-qemu",
    "overhead": {"podFixed": {"cpu": "250m", "memory": "120Mi"}},
    "scheduling": {
        "nodeSelector": {"pool": "kata"},
        "tolerations": [{"key": "sandbox", "operator": "Exists", "effect": "NoSchedule"}],
    },
}
PLAIN = {"metadata": {"name": "nvidia"}, "handler": "nvidia"}


def classes(*bodies: dict[str, Any]) -> dict[str, RuntimeClass]:
    return {each.name: each for each in msgspec.convert(list(bodies), list[RuntimeClass])}


def spec(resources: dict[str, Any] | None = None, **fields: Any) -> PodSpec:
    resources = {"limits": {GPU: 1}} if resources is None else resources
    return msgspec.convert({"containers": [{"name": "c", "resources": resources}], **fields}, PodSpec)


def refusals(asked: PodSpec) -> tuple[str, ...]:
    return admit(asked, classes(KATA, PLAIN)).refused


def test_overhead_selector_and_tolerations_of_the_class_are_written_into_the_pod() -> None:
    seen = admit(spec(runtimeClassName="kata", nodeSelector={"zone": "a"}), classes(KATA))
    assert spec_requests(seen.spec) == {"cpu": 250, "memory": 120 << 20, GPU: 1}
    assert seen.spec.node_selector == {"zone": "a", "pool": "kata"}
    assert "sandbox" in [toleration.key for toleration in seen.spec.tolerations]
    assert seen.added == (
        "RuntimeClass kata adds overhead cpu=250m, memory=120Mi; nodeSelector pool=kata; "
        "tolerations of sandbox:NoSchedule",
    )
    assert seen.refused == ()


def test_a_class_without_more_than_a_handler_adds_nothing() -> None:
    seen = admit(spec(runtimeClassName="nvidia"), classes(PLAIN))
    assert (seen.added, seen.refused, seen.undecided) == ((), (), ())


def test_classes_that_were_not_read_leave_it_open() -> None:
    seen = admit(spec(runtimeClassName="kata"), None)
    assert seen.refused == ()
    assert "RuntimeClasses were not read" in seen.undecided[0]
    assert admit(spec(), None).undecided == ()


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"runtimeClassName": "nope"}, 'pod rejected: RuntimeClass "nope" not found; there is kata, nvidia'),
        (
            {"runtimeClassName": "kata", "nodeSelector": {"pool": "other"}},
            "conflict: runtimeClass.scheduling.nodeSelector[pool] = kata; pod.spec.nodeSelector[pool] = other",
        ),
        (
            {"runtimeClassName": "kata", "overhead": {"cpu": "1"}},
            "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead",
        ),
        (
            {"runtimeClassName": "nvidia", "overhead": {"cpu": "1"}},
            "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        ),
        ({"overhead": {"cpu": "1"}}, "pod rejected: Pod Overhead set without corresponding RuntimeClass"),
    ],
)
def test_a_pod_that_contradicts_its_class_is_refused(fields: dict[str, Any], says: str) -> None:
    (refused,) = refusals(spec(**fields))
    assert refused.startswith(says)


def test_a_pod_that_has_the_overhead_and_the_selector_already_is_taken() -> None:
    overhead = {"cpu": "0.25", "memory": "122880Ki"}
    assert refusals(spec(runtimeClassName="kata", overhead=overhead, nodeSelector={"pool": "kata"})) == ()


def test_a_priority_class_that_is_not_there_is_refused_where_the_classes_are_known() -> None:
    asked, known = spec(priorityClassName="nope"), {"high": PriorityClass(value=9)}
    assert admit(asked, None, known).refused == ("no PriorityClass with name nope was found; there is high",)
    assert admit(asked, None, None).refused == ()
    assert admit(spec(priorityClassName="high"), None, known).refused == ()
    assert admit(spec(priorityClassName="system-node-critical"), None, known).refused == ()


@pytest.mark.parametrize(
    ("resources", "says"),
    [
        ({"limits": {GPU: "0.5"}}, "GPUs are asked for by whole numbers: c asks for 0.5 of nvidia.com/gpu"),
        ({"limits": {GPU: -1}}, "GPUs are asked for by whole numbers: c asks for -1 of nvidia.com/gpu"),
        ({"requests": {GPU: 1}}, "a GPU is requested without a limit: c requests 1 of nvidia.com/gpu and has no limit"),
        (
            {"requests": {GPU: 1}, "limits": {GPU: 2}},
            "request and limit of the GPU differ: c requests 1 of nvidia.com/gpu, its limit is 2",
        ),
        (
            {"requests": {"cpu": 4}, "limits": {"cpu": "3500m"}},
            "c requests 4 of cpu: must be less than or equal to its limit 3500m",
        ),
        ({"requests": {"memory": -1}}, "c requests -1 of memory: must be greater than or equal to 0"),
    ],
)
def test_amounts_that_are_refused(resources: dict[str, Any], says: str) -> None:
    assert refusals(spec(resources)) == (says,)


@pytest.mark.parametrize(
    "resources",
    [
        {"limits": {GPU: "2"}, "requests": {GPU: 2.0}},
        {"limits": {GPU: "1e0", "cpu": "500m"}, "requests": {"cpu": "0.5"}},
        {"requests": {"cpu": "0.5", "memory": "1Gi"}},
        {},
    ],
)
def test_amounts_that_are_taken(resources: dict[str, Any]) -> None:
    assert refusals(spec(resources)) == ()
