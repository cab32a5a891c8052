"""NodeResourcesFit: what is short, in the scheduler's words, and what eviction could not mend."""

from lockgate.scheduling.node_fit import copies_that_fit, fits, holds_room, room, shortages
from lockgate.scheduling.requests import pod_requests
from tests.scheduling.build import node, pod

GPU = "nvidia.com/gpu"


def test_free_is_allocatable_less_what_running_pods_requested() -> None:
    here = room(node(), [pod(requests={GPU: 3}), pod(requests={GPU: 4})])
    assert here.headroom(GPU) == 1
    assert fits({GPU: 1}, here)
    assert not fits({GPU: 2}, here)


def test_finished_pods_hold_nothing_and_terminating_ones_still_do() -> None:
    pods = [pod(requests={GPU: 8}, status={"phase": phase}) for phase in ("Succeeded", "Failed")]
    assert room(node(), pods).headroom(GPU) == 8
    assert room(node(), [pod(requests={GPU: 8}, status={"phase": "Running"})]).headroom(GPU) == 0


def test_only_bound_pods_that_are_not_finished_count_against_a_node() -> None:
    assert holds_room(pod(nodeName="a", status={"phase": "Running"}))
    assert not holds_room(pod(nodeName="a", status={"phase": "Failed"}))
    assert not holds_room(pod())


def test_a_resource_that_the_node_never_had_is_insufficient_and_eviction_cannot_help() -> None:
    (short,) = shortages({GPU: 1}, room(node(allocatable={"pods": "10"}), []))
    assert (short.reason, short.allocatable, short.unresolvable) == ("Insufficient nvidia.com/gpu", 0, True)


def test_a_held_resource_is_insufficient_and_eviction_could_help() -> None:
    (short,) = shortages({GPU: 2}, room(node(), [pod(requests={GPU: 8})]))
    assert (short.used, short.headroom, short.unresolvable) == (8, 0, False)


def test_every_short_resource_is_named_in_the_schedulers_order() -> None:
    asked = pod_requests(pod(requests={GPU: 9, "memory": "64Gi", "cpu": "9"}))
    full = node(allocatable={"pods": "1", "cpu": "8", "memory": "32Gi", GPU: "8"})
    reasons = [s.reason for s in shortages(asked, room(full, [pod()]))]
    assert reasons == ["Too many pods", "Insufficient cpu", "Insufficient memory", "Insufficient nvidia.com/gpu"]


def test_a_request_of_nothing_fits_an_overcommitted_node() -> None:
    overcommitted = room(node(allocatable={"pods": "9", GPU: "1"}), [pod(requests={GPU: 4})])
    assert overcommitted.headroom(GPU) == -3
    assert fits({}, overcommitted)


def test_copies_that_fit_is_what_adding_pods_one_by_one_gives() -> None:
    asked = {GPU: 3, "cpu": 1000}
    here = room(node(), [pod(requests={GPU: 1})])
    assert copies_that_fit(asked, here) == 2
    for _ in range(2):
        assert fits(asked, here)
        here = here.plus(asked)
    assert not fits(asked, here)
