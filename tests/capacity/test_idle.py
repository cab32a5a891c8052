"""Held but idle: what is counted, and where it is not known."""

from typing import Any

import pytest

from lockgate.capacity.idle import Holder, idle_holders, with_idle
from lockgate.capacity.overview import Overview, overview
from lockgate.capacity.slots import Sharing, Slots
from lockgate.capacity.table import By
from lockgate.model.facts import Missing, Reading, Snapshot
from tests.capacity.build import GPU, gpu_node, gpu_pod


def reading(device: str, used: float | None, pod: str = "", profile: str = "", memory: int | None = None) -> Reading:
    return Reading(
        node="a",
        device=device,
        profile=profile,
        namespace="default" if pod else "",
        pod=pod,
        utilisation=used,
        memory_used_mib=memory,
    )


def slots(requested: int, sharing: Sharing = Sharing.EXCLUSIVE, resource: str = GPU) -> Slots:
    return Slots(resource=resource, capacity=8, allocatable=8, requested=requested, sharing=sharing)


SHARED = Sharing.TIME_SLICING


@pytest.mark.parametrize(
    ("here", "readings", "idle"),
    [
        (slots(0), [], 0),
        (slots(2), [], None),
        (slots(2), [reading("0", 0.0, "p"), reading("1", 0.9, "q"), reading("2", 0.0)], 1),
        (slots(2), [reading("0", 0.0099, "p"), reading("1", 0.01, "q")], 1),
        (slots(1), [reading("0", 0.0, "p"), reading("1", 0.0, "gone")], 1),
        (slots(2), [reading("0", 0.0), reading("1", 0.0)], None),
        (slots(2), [reading("0", None, "p")], None),
        (slots(3, SHARED), [reading("0", 0.0), reading("1", 0.0, "last")], 3),
        (slots(3, SHARED), [reading("0", 0.5), reading("1", 0.2)], 0),
        (slots(3, SHARED), [reading("0", 0.5), reading("1", 0.0)], None),
        (slots(1), [reading("0", 0.0, "p"), reading("0", 0.6, "q")], 0),
    ],
    ids=[
        "nothing is requested",
        "nothing was measured",
        "one of two, and one that nobody holds",
        "under 1 % is idle, 1 % is not",
        "never more than is requested",
        "the exporter names no pods",
        "the device tells no utilisation",
        "shared, all devices idle",
        "shared, all devices busy",
        "shared, and some busy",
        "one of two pods on a device works",
    ],
)
def test_idle_slots(here: Slots, readings: list[Reading], idle: int | None) -> None:
    assert with_idle(here, readings).idle == idle


def test_mig_devices_are_told_apart_by_their_profile() -> None:
    readings = [
        reading("0/1", 0.0, "p", "1g.5gb"),
        reading("0/2", 0.0, "q", "3g.20gb"),
        reading("0/3", 0.0, "r", "1g.5gb+me"),
    ]
    assert with_idle(slots(2, Sharing.MIG, "nvidia.com/mig-1g.5gb"), readings).idle == 1
    assert with_idle(slots(2, Sharing.MIG, "nvidia.com/mig-1g.5gb.me"), readings).idle == 1
    assert with_idle(slots(3, Sharing.MIG), readings).idle == 3  # strategy `single`: all are nvidia.com/gpu


def test_holders_are_named_with_the_memory_that_they_keep() -> None:
    """The guide: a card of 24 GB with 0 % utilisation held 13.7 GiB of its memory."""
    readings = [reading("GPU-1", 0.0, "llm", memory=14029), reading("GPU-2", 0.5, "busy"), reading("GPU-3", 0.0)]
    assert idle_holders(readings) == (
        Holder(node="a", device="GPU-1", namespace="default", pod="llm", memory_used_mib=14029),
    )


def seen(readings: Any) -> Overview:
    pods = (gpu_pod("p", 2, node="a"), gpu_pod("q", 1, node="a", namespace="team"))
    return overview(Snapshot(nodes=(gpu_node("a", 4),), pods=pods, node_states=(), readings=readings), By.NODE)


def test_the_overview_counts_by_node_and_by_namespace() -> None:
    told = seen((reading("0", 0.0, "p"), reading("1", 0.0, "p"), reading("2", 0.7, "x")))
    assert told.rows[0].idle == told.total[0].idle == 2
    assert {row.key: row.idle for row in told.namespaces} == {"default": 2, "team": 0}
    assert told.unknown == ()


def test_without_readings_it_is_not_known_and_said_so() -> None:
    told = seen(Missing("utilisation was not asked for", "kubectl gpu capacity --metrics"))
    assert (told.rows[0].idle, told.idle, told.namespaces[0].idle) == (None, None, None)
    assert told.unknown == (
        "requested but idle: utilisation was not asked for (to read it: kubectl gpu capacity --metrics)",
    )
    assert seen(()).unknown == ("requested but idle on a: no exporter tells of the devices that pods hold",)
