"""Which free devices are taken: near each other, and so that near ones stay together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.agents.device_plugin.devices import Slot, enumerate_devices, slots
from lockgate.agents.device_plugin.preference import Scores, prefer, score_pairs
from lockgate.agents.sharing import Replicated, Sharing
from lockgate.gpu.topology import Pair
from lockgate.kubelet.device_plugin_server import RefusedError
from lockgate.kubelet.messages import PreferenceRequest
from tests.agents.device_plugin.gpus import gpu, mig, snapshot

GPU = "nvidia.com/gpu"


def _whole(count: int, numa: tuple[int, ...] = ()) -> dict[str, Slot]:
    gpus = [gpu(index, numa_node=numa[index] if numa else 0) for index in range(count)]
    return {slot.id: slot for slot in slots(enumerate_devices(snapshot(*gpus), "none", {}).devices, Sharing())[GPU]}


def _shared(count: int, replicas: int) -> dict[str, Slot]:
    devices = enumerate_devices(snapshot(*map(gpu, range(count))), "none", {}).devices
    return {slot.id: slot for slot in slots(devices, Sharing({GPU: Replicated(replicas, GPU)}))[GPU]}


def _linked(*pairs: tuple[int, int]) -> Scores:
    return score_pairs([Pair(f"GPU-{one}", f"GPU-{other}", 50, 4) for one, other in pairs])


def _ask(free: str, size: int, required: str = "") -> PreferenceRequest:
    return PreferenceRequest(tuple(f"GPU-{n}" for n in free), tuple(f"GPU-{n}" for n in required), size)


def test_linked_gpus_go_together() -> None:
    assert prefer(_ask("0123", 2), _whole(4), _linked((1, 3))) == ("GPU-1", "GPU-3")


def test_required_gpus_are_in_the_answer_and_draw_their_neighbours() -> None:
    assert prefer(_ask("0123", 2, required="2"), _whole(4), _linked((0, 1), (2, 3))) == ("GPU-2", "GPU-3")


def test_one_gpu_is_taken_from_where_it_breaks_no_link() -> None:
    assert prefer(_ask("0123", 1), _whole(4), _linked((0, 1), (2, 3), (0, 3))) == ("GPU-1",)
    assert prefer(_ask("012", 1), _whole(3), _linked((0, 1))) == ("GPU-2",)


def test_without_known_links_the_numa_node_decides() -> None:
    assert prefer(_ask("0123", 2), _whole(4, (0, 1, 0, 1)), {}) == ("GPU-0", "GPU-2")
    assert prefer(_ask("123", 2), _whole(4, (0, 1, 0, 1)), {}) == ("GPU-1", "GPU-3")


def test_a_gpu_that_tells_no_topology_does_not_fail_the_request() -> None:
    assert set(prefer(_ask("012", 3), _whole(3), _linked((0, 1)))) == {"GPU-0", "GPU-1", "GPU-2"}


def test_an_id_that_left_meanwhile_is_no_reason_to_fail() -> None:
    assert set(prefer(_ask("09", 2), _whole(1), {})) == {"GPU-0", "GPU-9"}


def test_too_few_are_refused() -> None:
    with pytest.raises(RefusedError, match="not enough available devices"):
        prefer(_ask("0", 2), _whole(2), {})


def test_shared_gpus_are_filled_evenly() -> None:
    units = _shared(2, 3)
    request = PreferenceRequest(("GPU-0::1", "GPU-0::2", "GPU-1::0", "GPU-1::1", "GPU-1::2"), (), 2)
    assert prefer(request, units, {}) == ("GPU-1::0", "GPU-0::1")


def test_shared_gpus_are_filled_one_after_the_other_when_packed() -> None:
    units = _shared(2, 3)
    request = PreferenceRequest(("GPU-0::1", "GPU-0::2", "GPU-1::0", "GPU-1::1", "GPU-1::2"), (), 2)
    assert prefer(request, units, {}, packed=True) == ("GPU-0::1", "GPU-0::2")


def test_mig_devices_are_spread_over_gpus() -> None:
    gpus = [gpu(n, mig_enabled=True, mig=(mig(n, 0), mig(n, 1))) for n in range(2)]
    found = slots(enumerate_devices(snapshot(*gpus), "single", {}).devices, Sharing())[GPU]
    units = {slot.id: slot for slot in found}
    assert prefer(PreferenceRequest(tuple(units), (), 2), units, {}) == ("MIG-0-0", "MIG-1-0")


def test_sixteen_gpus_are_chosen_from_in_reasonable_time() -> None:
    free = PreferenceRequest(tuple(f"GPU-{n}" for n in range(24)), (), 12)
    assert len(set(prefer(free, _whole(24), {}))) == 12


@given(st.data())
def test_the_answer_always_has_the_size_and_the_required_ids(data: st.DataObject) -> None:
    replicas = data.draw(st.integers(1, 3))
    units = _shared(4, replicas) if replicas > 1 else _whole(4)
    available = data.draw(st.lists(st.sampled_from(sorted(units)), unique=True, min_size=1))
    required = data.draw(st.lists(st.sampled_from(available), unique=True))
    size = data.draw(st.integers(max(1, len(required)), len(available)))
    chosen = prefer(PreferenceRequest(tuple(available), tuple(required), size), units, _linked((0, 1)))
    assert len(chosen) == len(set(chosen)) == size
    assert set(required) <= set(chosen) <= set(available)
