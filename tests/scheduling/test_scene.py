"""A scene adds up what is on a node where it is asked about, and takes a sum that is known already."""

import msgspec

from lockgate.scheduling.node_fit import room
from lockgate.scheduling.requests import PODS
from lockgate.scheduling.scene import node_view, scene, view_with_pod
from tests.scheduling.build import node, pod

GPU = "nvidia.com/gpu"


def test_a_node_is_added_up_as_its_pods_say_and_anew_after_each_change() -> None:
    here = pod("a", requests={GPU: "2"}, nodeName="gpu-1")
    view = scene([node()], [here]).nodes["gpu-1"]
    assert view.room == room(node(), [here])
    assert view.room is view.room
    fuller = view_with_pod(view, pod("b", requests={GPU: "3"}))
    assert [v.room.headroom(GPU) for v in (view, fuller)] == [6, 3]


def test_a_sum_that_is_known_is_not_added_up_again() -> None:
    view = node_view(node(), [])
    known = view.room.plus({GPU: 5})
    after = msgspec.structs.replace(view, summed_up=known)
    assert (after.room, view.room.requested[PODS]) == (known, 0)


def test_pods_with_anti_affinity_are_told_apart() -> None:
    alone = pod("a", affinity={"podAntiAffinity": {}})
    assert node_view(node(), [alone, pod("b")]).loners == (alone,)
