"""Headroom in pieces, and behind nodes that are out of something else."""

from lockgate.capacity.fragmentation import Fragmentation, fragmentation
from lockgate.capacity.node_capacity import gpu_nodes
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.scene import scene
from tests.capacity.build import GPU, gpu_node, gpu_pod


def measured(nodes: list[Node], pods: list[Pod], size: int, **other: int) -> Fragmentation:
    cluster = scene(nodes, pods)
    return fragmentation(gpu_nodes(cluster, {}), cluster, GPU, {GPU: size, **other})


def test_four_free_gpus_on_four_nodes_take_no_request_for_four() -> None:
    nodes = [gpu_node(name, 8) for name in "abcd"]
    seen = measured(nodes, [gpu_pod(name, 7, node=name) for name in "abcd"], 4)
    assert (seen.headroom, seen.copies, seen.largest, seen.in_pieces) == (4, 0, 1, 4)
    assert seen.fragmented


def test_the_rest_of_a_division_is_in_pieces() -> None:
    seen = measured([gpu_node("a", 8)], [], 3)
    assert (seen.copies, seen.in_pieces, seen.fragmented) == (2, 2, False)


def test_gpus_behind_a_node_without_cpu_are_short_of_others() -> None:
    busy = gpu_pod("cpu", 0, node="a", requests={"cpu": "63"})
    seen = measured([gpu_node("a", 8)], [busy], 2, cpu=4000)
    assert (seen.copies, seen.short_of_others, seen.in_pieces) == (0, 8, 0)


def test_cordoned_nodes_are_not_headroom() -> None:
    assert measured([gpu_node("a", 8, unschedulable=True)], [], 1).headroom == 0
