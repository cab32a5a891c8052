"""Capacity and allocatable follow the kubelet's rules: the table seen on a real kubelet, and any history."""

from hypothesis import given
from hypothesis import strategies as st

from lockgate.accounting.ledger import (
    GRACE,
    Happening,
    KubeletStarted,
    Listed,
    NodeRecreated,
    Reported,
    StreamEnded,
    after,
    replay,
    reported,
)

GPU = "nvidia.com/gpu"
BOTH = Listed(GPU, {"GPU-0": True, "GPU-1": True})


def _after(*history: tuple[float, Happening], now: float) -> dict[str, Reported]:
    return reported(replay(history), now)


def test_a_registered_plugin_gives_capacity_and_allocatable() -> None:
    assert _after((0, BOTH), now=1) == {GPU: Reported(2, 2)}


def test_an_unhealthy_device_leaves_allocatable_only() -> None:
    assert _after((0, BOTH), (5, Listed(GPU, {"GPU-0": False, "GPU-1": True})), now=6) == {GPU: Reported(2, 1)}


def test_a_killed_plugin_leaves_the_capacity() -> None:
    assert _after((0, BOTH), (10, StreamEnded(GPU)), now=14) == {GPU: Reported(2, 0)}


def test_five_minutes_after_the_plugin_went_the_key_stays_at_zero() -> None:
    assert _after((0, BOTH), (10, StreamEnded(GPU)), now=10 + GRACE) == {GPU: Reported(2, 0)}
    assert _after((0, BOTH), (10, StreamEnded(GPU)), now=10 + GRACE + 6) == {GPU: Reported(0, 0)}


def test_a_restarted_kubelet_remembers_the_name_alone() -> None:
    assert _after((0, BOTH), (10, StreamEnded(GPU)), (20, KubeletStarted()), now=21) == {GPU: Reported(0, 0)}
    assert _after((0, BOTH), (10, KubeletStarted()), now=11) == {GPU: Reported(0, 0)}
    assert _after((0, BOTH), (10, KubeletStarted(checkpoint=False)), now=11) == {GPU: Reported(0, 0)}


def test_only_a_new_node_object_has_no_key() -> None:
    assert _after((0, BOTH), (10, NodeRecreated()), now=11) == {}


def test_a_plugin_that_returns_is_counted_again() -> None:
    history = ((0, BOTH), (10, StreamEnded(GPU)), (400, KubeletStarted()), (410, BOTH))
    assert _after(*history, now=411) == {GPU: Reported(2, 2)}


def test_an_empty_list_is_no_device_but_a_key() -> None:
    assert _after((0, Listed(GPU, {})), now=1) == {GPU: Reported(0, 0)}


def test_a_second_end_of_stream_does_not_prolong_the_grace() -> None:
    history = ((0, BOTH), (10, StreamEnded(GPU)), (200, StreamEnded(GPU)))
    assert _after(*history, now=10 + GRACE + 1) == {GPU: Reported(0, 0)}


_devices = st.dictionaries(st.sampled_from(["GPU-0", "GPU-1", "GPU-2"]), st.booleans())
_happenings = st.one_of(
    st.builds(Listed, st.sampled_from([GPU, "nvidia.com/gpu.shared"]), _devices),
    st.builds(StreamEnded, st.sampled_from([GPU, "nvidia.com/gpu.shared"])),
    st.builds(KubeletStarted, st.booleans()),
    st.builds(NodeRecreated),
)
_histories = st.lists(st.tuples(st.floats(0, 400), _happenings), max_size=12).map(
    lambda steps: [(sum(pause for pause, _ in steps[: n + 1]), step) for n, (_, step) in enumerate(steps)]
)


@given(_histories, st.floats(0, 1000))
def test_allocatable_never_exceeds_capacity(history: list[tuple[float, Happening]], later: float) -> None:
    now = (history[-1][0] if history else 0) + later
    assert all(0 <= row.allocatable <= row.capacity for row in _after(*history, now=now).values())


@given(_histories)
def test_a_key_only_goes_with_the_node_object(history: list[tuple[float, Happening]]) -> None:
    known: set[str] = set()
    ledger = replay([])
    for now, happening in history:
        ledger = after(ledger, happening, now)
        if isinstance(happening, NodeRecreated):
            known.clear()
        if isinstance(happening, Listed):
            known.add(happening.resource)
        assert set(reported(ledger, now)) == known


@given(_histories, _devices)
def test_a_fresh_list_ends_all_that_went_before(
    history: list[tuple[float, Happening]], devices: dict[str, bool]
) -> None:
    now = history[-1][0] if history else 0.0
    row = _after(*history, (now, Listed(GPU, devices)), now=now)[GPU]
    assert row == Reported(len(devices), sum(devices.values()))
