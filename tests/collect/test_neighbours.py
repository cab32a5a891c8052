"""Systems beside NVIDIA's stack, read where they are: versions, groups, rights, and only what some pods need."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from lockgate.collect.neighbours import NEIGHBOURS, beside, read_neighbour
from lockgate.collect.reader import Reader
from lockgate.model.facts import API_SECTIONS, Missing
from lockgate.model.objects import (
    DaemonSet,
    Event,
    Metadata,
    Node,
    NodeStatus,
    ObjectReference,
    Pod,
    PodResourceClaim,
    PodSpec,
    SchedulingGate,
    Workload,
)
from tests.kube.fake_server import Answer, Request, fake_api, status

T = Callable[[Reader], Awaitable[Any]]
GPU_NODE = Node(metadata=Metadata(name="gpu-a"), status=NodeStatus(allocatable={"nvidia.com/gpu": "2"}))


class Serving:
    """An API server with some groups, and objects of some collections."""

    def __init__(self, *versions: str, refused: str = "", **objects: list[dict[str, Any]]) -> None:
        self.versions, self.refused, self.objects = versions, refused, objects

    def __call__(self, request: Request) -> Answer:
        if request.path == "/apis":
            groups = [{"name": v, "versions": [{"groupVersion": v}]} for v in self.versions]
            return Answer({"kind": "APIGroupList", "groups": groups})
        plural = request.path.rpartition("/")[2]
        if plural == self.refused:
            return status(403, "Forbidden", f"cannot list {plural}")
        if not any(request.path.startswith((f"/apis/{v}/", "/api/v1/")) for v in self.versions or ("",)):
            return Answer("404 page not found", 404)
        return Answer({"items": self.objects.get(plural, [])})


def ask(server: Serving, doing: T) -> tuple[Any, list[str]]:
    """The answer, and which paths were asked for."""

    async def run() -> tuple[Any, list[str]]:
        async with fake_api(server) as (fake, api, _):
            answer = await doing(Reader(api))
            return answer, [r.path for r in fake.requests]

    return asyncio.run(run())


def test_every_neighbour_is_a_section() -> None:
    assert set(NEIGHBOURS) <= {s.section for s in API_SECTIONS}


def test_the_newest_version_that_is_served_is_read() -> None:
    slices = [{"metadata": {"name": "s"}, "spec": {"driver": "gpu.nvidia.com", "devices": [{"name": "gpu-0"}]}}]
    server = Serving("resource.k8s.io/v1beta1", "resource.k8s.io/v1beta2", resourceslices=slices)
    found, paths = ask(server, lambda read: read_neighbour(read, "resource_slices"))
    assert [(s.name, s.spec.driver, len(s.spec.devices)) for s in found] == [("s", "gpu.nvidia.com", 1)]
    assert paths == ["/apis", "/apis/resource.k8s.io/v1beta2/resourceslices"]


def test_groups_that_both_define_a_kind_are_put_together() -> None:
    server = Serving(
        "scheduling.volcano.sh/v1beta1", "scheduling.run.ai/v2alpha2", podgroups=[{"metadata": {"name": "g"}}]
    )
    found, _ = ask(server, lambda read: read_neighbour(read, "pod_groups", "ml"))
    assert [g.name for g in found] == ["g", "g"]


def test_what_is_not_served_is_missing_and_costs_one_small_request() -> None:
    found, paths = ask(Serving("apps/v1"), lambda read: read_neighbour(read, "queued_workloads"))
    assert isinstance(found, Missing)
    assert (found.reason, paths) == ("the cluster does not know workloads", ["/apis"])


def test_what_may_not_be_read_is_missing_with_the_right_that_lacks() -> None:
    server = Serving("kueue.x-k8s.io/v1beta1", refused="workloads")
    found, _ = ask(server, lambda read: read_neighbour(read, "queued_workloads", "ml"))
    assert isinstance(found, Missing)
    assert found.how == "RBAC: list on workloads.kueue.x-k8s.io in namespace ml"


@pytest.mark.parametrize(
    ("pod", "found", "sections"),
    [
        (Pod(spec=PodSpec(node_name="gpu-a")), {"nodes": (GPU_NODE,)}, set()),
        (Pod(), {"nodes": (GPU_NODE,)}, set()),
        (Pod(), {"nodes": (Node(),)}, {"device_classes", "resource_claims", "resource_slices"}),
        (
            Pod(spec=PodSpec(node_name="gpu-a", resource_claims=(PodResourceClaim(name="gpu"),))),
            {"nodes": (GPU_NODE,)},
            {"device_classes", "resource_claims", "resource_slices"},
        ),
        (
            Pod(spec=PodSpec(scheduling_gates=(SchedulingGate(name="kueue.x-k8s.io/admission"),))),
            {"nodes": (GPU_NODE,)},
            {"queued_workloads"},
        ),
        (
            Pod(spec=PodSpec(node_name="gpu-a")),
            {"nodes": (GPU_NODE,), "jobs": (Workload(metadata=Metadata(labels={"kueue.x-k8s.io/queue-name": "a"})),)},
            {"queued_workloads"},
        ),
        (Pod(spec=PodSpec(scheduler_name="volcano")), {"nodes": (GPU_NODE,)}, {"pod_groups"}),
        (
            Pod(),
            {"nodes": (Node(metadata=Metadata(labels={"karpenter.sh/nodepool": "gpu"}), status=GPU_NODE.status),)},
            {"node_claims"},
        ),
        (
            Pod(spec=PodSpec(node_name="gpu-a")),
            {"nodes": (GPU_NODE,), "events": (Event(message="maximum nvidia.com/gpu usage per Container is 1"),)},
            {"limit_ranges"},
        ),
        (
            Pod(spec=PodSpec(node_name="gpu-a")),
            {"nodes": (GPU_NODE,), "events": (Event(message="no PriorityClass with name gpu-high was found"),)},
            {"priority_classes"},
        ),
    ],
)
def test_only_what_some_pods_need_is_read(pod: Pod, found: dict[str, Any], sections: set[str]) -> None:
    server = Serving("resource.k8s.io/v1", "kueue.x-k8s.io/v1beta2", "scheduling.run.ai/v2alpha2", "karpenter.sh/v1")
    answer, _ = ask(server, lambda read: beside(read, "ml", (pod,), found))
    assert set(answer) == sections


def test_the_group_of_an_owner_without_pods_is_read() -> None:
    found = {"nodes": (GPU_NODE,), "custom_owners": (Workload(kind="Job"),)}
    answer, _ = ask(Serving("scheduling.volcano.sh/v1beta1"), lambda read: beside(read, "ml", (), found))
    assert set(answer) == {"pod_groups"}


def test_what_refuses_the_pods_of_a_device_plugin_is_read_with_the_pod_that_waits_for_it() -> None:
    lacking = {"metadata": {"name": "nvidia-device-plugin-daemonset", "namespace": "gpu-operator"}}
    daemon_set = msgspec.convert(lacking | {"status": {"desiredNumberScheduled": 2}}, DaemonSet)
    server = Serving("apps/v1", events=[{"message": "violates PodSecurity", "type": "Warning"}])
    own = Event(message="own", involved_object=ObjectReference(kind="Pod", name="x"))
    found = {"nodes": (GPU_NODE,), "events": (own,), "daemon_sets": (daemon_set,)}
    answer, paths = ask(server, lambda read: beside(read, "ml", (Pod(),), found))
    assert [e.text for e in answer["events"]] == ["own", "violates PodSecurity"]
    assert paths == ["/api/v1/namespaces/gpu-operator/events"]
