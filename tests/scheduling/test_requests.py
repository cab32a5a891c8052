"""What a pod asks for, case by case of KEP-753, pod-level resources and in-place resize."""

import msgspec
import pytest

from lockgate.model.objects import PodSpec
from lockgate.scheduling.requests import accounted_requests, amounts, defaulted, is_counted, pod_requests
from tests.scheduling.build import container, pod


def test_containers_add_up_and_cpu_is_in_millicores() -> None:
    asked = pod(containers=[container({"cpu": "500m", "memory": "1Gi"}), container({"cpu": "1", "nvidia.com/gpu": 2})])
    assert pod_requests(asked) == {"cpu": 1500, "memory": 2**30, "nvidia.com/gpu": 2}


def test_the_largest_init_container_counts_when_it_asks_more_than_all_containers() -> None:
    asked = pod(
        requests={"cpu": "1", "nvidia.com/gpu": "1"},
        initContainers=[container({"cpu": "3"}), container({"nvidia.com/gpu": "4"})],
    )
    assert pod_requests(asked) == {"cpu": 3000, "nvidia.com/gpu": 4}


def test_a_sidecar_adds_to_the_containers_and_to_later_init_containers_only() -> None:
    asked = pod(
        requests={"cpu": "1"},
        initContainers=[
            container({"cpu": "1600m"}),
            container({"cpu": "500m"}, restartPolicy="Always"),
            container({"cpu": "1200m"}),
        ],
    )
    assert pod_requests(asked) == {"cpu": 1700}  # first init 1.6; sidecar + second init 1.7; sidecar + app 1.5


def test_overhead_of_the_runtime_class_is_added_last() -> None:
    asked = pod(requests={"cpu": "1"}, initContainers=[container({"cpu": "2"})], overhead={"cpu": "250m"})
    assert pod_requests(asked) == {"cpu": 2250}


def test_pod_level_cpu_and_memory_replace_the_containers_but_devices_do_not() -> None:
    asked = pod(
        requests={"cpu": "4", "nvidia.com/gpu": "1"},
        resources={"requests": {"cpu": "2", "memory": "1Gi", "nvidia.com/gpu": "9"}},
    )
    assert pod_requests(asked) == {"cpu": 2000, "memory": 2**30, "nvidia.com/gpu": 1}


def test_fractions_of_a_byte_are_rounded_up_once_a_pod() -> None:
    asked = pod(containers=[container({"memory": "500m"}), container({"memory": "500m"}), container({"cpu": "1u"})])
    assert pod_requests(asked) == {"memory": 1, "cpu": 1}


def test_zero_amounts_and_names_without_a_domain_are_not_counted() -> None:
    assert pod_requests(pod(requests={"nvidia.com/gpu": "0", "gpu": "3", "pods": "1"})) == {}


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("nvidia.com/mig-1g.5gb", True),
        ("hugepages-2Mi", True),
        ("kubernetes.io/batch-cpu", True),
        ("requests.nvidia.com/gpu", False),
        ("gpu", False),
    ],
)
def test_which_names_the_scheduler_counts(name: str, counted: bool) -> None:
    assert is_counted(name) is counted


def test_a_pod_being_made_smaller_still_takes_its_old_size() -> None:
    shrinking = pod(
        requests={"cpu": "1"},
        status={
            "containerStatuses": [
                {"name": "c", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "2"}}}
            ]
        },
    )
    assert accounted_requests(shrinking) == {"cpu": 2000}
    assert pod_requests(shrinking) == {"cpu": 1000}


def test_a_pod_whose_growth_is_infeasible_takes_what_it_has() -> None:
    status = {
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
        "containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "1"}}],
    }
    assert accounted_requests(pod(requests={"cpu": "64"}, status=status)) == {"cpu": 1000}


def test_a_pod_whose_growth_is_deferred_takes_what_it_wants() -> None:
    status = {
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}],
        "containerStatuses": [{"name": "c", "allocatedResources": {"cpu": "1"}}],
    }
    assert accounted_requests(pod(requests={"cpu": "64"}, status=status)) == {"cpu": 64000}


def test_limits_become_requests_as_the_api_server_does_it() -> None:
    limits_only = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": 2, "cpu": "4"}, "requests": {"cpu": "1"}}}
    spec = msgspec.convert({"containers": [limits_only]}, PodSpec)
    assert defaulted(spec).containers[0].resources.requests == {"nvidia.com/gpu": 2, "cpu": "1"}


def test_allocatable_is_read_in_the_same_units() -> None:
    assert amounts({"cpu": "7910m", "memory": "1Ki", "pods": "110", "nvidia.com/gpu": "8", "odd": "1"}) == {
        "cpu": 7910,
        "memory": 1024,
        "pods": 110,
        "nvidia.com/gpu": 8,
    }
