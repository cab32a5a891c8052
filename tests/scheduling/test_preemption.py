"""What evicting would do, and the whole text of the scheduler's event."""

from lockgate.scheduling.filters import place
from lockgate.scheduling.preemption import explain, preempt
from lockgate.scheduling.scene import scene
from tests.scheduling.build import node, pod

GPU = "nvidia.com/gpu"
FULL = scene([node("a"), node("b", allocatable={"pods": "9"})], [pod("low", requests={GPU: 8}, nodeName="a")])


def test_the_whole_text_of_the_event() -> None:
    assert explain(pod(requests={GPU: 1}), FULL) == (
        "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/2 nodes are available: "
        "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
    )


def test_lower_priority_makes_a_victim() -> None:
    urgent = pod(requests={GPU: 1}, priority=10)
    assert preempt(urgent, FULL, place(urgent, FULL)).candidates == ("a",)
    assert explain(urgent, FULL) == "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."


def test_victims_that_would_not_be_enough_are_not_taken() -> None:
    held = scene(
        [node("a")],
        [pod("low", requests={GPU: 1}, nodeName="a"), pod("x", requests={GPU: 7}, nodeName="a", priority=10)],
    )
    urgent = pod(requests={GPU: 4}, priority=10)
    found = preempt(urgent, held, place(urgent, held))
    assert (found.candidates, found.counts) == ((), {f"Insufficient {GPU}": 1})


def test_a_pod_that_may_not_evict_says_so() -> None:
    modest = pod(requests={GPU: 1}, priority=10, preemptionPolicy="Never")
    assert explain(modest, FULL).endswith("preemption: not eligible due to preemptionPolicy=Never.")


def test_a_pod_that_fits_needs_no_text() -> None:
    assert explain(pod(), FULL) == ""
