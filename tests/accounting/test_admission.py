"""The kubelet's answer to a pod, and its words read back: what the model says is what the parser understands."""

import pytest

from lockgate.accounting.admission import Admitted, Refused, admit
from lockgate.accounting.ledger import Happening, KubeletStarted, Listed, StreamEnded, replay
from lockgate.accounting.texts import (
    CountChanged,
    EndpointStopped,
    NoneHealthy,
    OtherRefusal,
    OutOf,
    PluginFailed,
    RecordedUnhealthy,
    Refusal,
    ShortAnswer,
    TooFewFree,
    TopologyRefused,
    UnknownPlugin,
    Unregistered,
    parse_refusal,
)

GPU = "nvidia.com/gpu"
TWO = Listed(GPU, {"GPU-0": True, "GPU-1": True})
UNEXPECTED = "UnexpectedAdmissionError"


def _refused(
    *history: tuple[float, Happening], requested: int = 1, held: frozenset[str] = frozenset(), now: float = 10
) -> Refusal | None:
    answer = admit(replay(history), GPU, requested, held, now)
    assert isinstance(answer, Refused)
    return parse_refusal(answer.reason, answer.message)


def test_free_healthy_devices_are_given() -> None:
    assert admit(replay([(0, TWO)]), GPU, 2, frozenset(), 1) == Admitted(2)


def test_where_the_resource_was_never_known_the_pod_runs_without_a_device() -> None:
    assert admit({}, GPU, 1, frozenset(), 1) == Admitted(0)


def test_taken_devices_are_too_few() -> None:
    assert _refused((0, TWO), held=frozenset(("GPU-0", "GPU-1"))) == TooFewFree(GPU, requested=1, available=0)
    assert _refused((0, TWO), requested=2, held=frozenset(("GPU-0",))) == TooFewFree(GPU, requested=2, available=1)


def test_unhealthy_devices_are_none() -> None:
    assert _refused((0, Listed(GPU, {"GPU-0": False}))) == NoneHealthy(GPU)


def test_while_the_plugin_is_away_none_is_healthy() -> None:
    assert _refused((0, TWO), (1, StreamEnded(GPU))) == NoneHealthy(GPU)
    assert _refused((0, TWO), (1, KubeletStarted())) == NoneHealthy(GPU)


def test_a_key_left_at_zero_is_unregistered_while_pods_still_hold_devices() -> None:
    gone = ((0.0, TWO), (1.0, StreamEnded(GPU)))
    assert _refused(*gone, held=frozenset(("GPU-0",)), now=400) == Unregistered(GPU)
    assert _refused(*gone, now=400) == OutOf(GPU, requested=1, used=0, capacity=0)


SEEN = [  # verbatim, from kubelets 1.18 to 1.37
    (
        "Pod was rejected: Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. "
        "Requested: 1, Available: 0, which is unexpected",
        TooFewFree(GPU, requested=1, available=0),
    ),
    (
        "Pod Allocate failed due to requested number of devices unavailable for nvidia.com/mig-1g.5gb.shared. "
        "Requested: 2, Available: 1, which is unexpected",
        TooFewFree("nvidia.com/mig-1g.5gb.shared", requested=2, available=1),
    ),
    (
        "Pod was rejected: Allocate failed due to cannot allocate unregistered device nvidia.com/gpu, "
        "which is unexpected",
        Unregistered(GPU),
    ),
    (
        "Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, "
        "which is unexpected",
        NoneHealthy(GPU),
    ),
    (
        "Pod was rejected: Allocate failed due to previously allocated devices are no longer healthy; "
        "cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected",
        RecordedUnhealthy(GPU),
    ),
    (
        'Allocate failed due to pod "0b2" container "main" changed request for resource "nvidia.com/gpu" '
        "from 1 to 2, which is unexpected",
        CountChanged(GPU, before=1, after=2),
    ),
    (
        "Allocate failed due to unexpectedly allocated less resources than required. Requested: 2, Got: 1, "
        "which is unexpected",
        ShortAnswer("", requested=2, got=1),
    ),
    ("Allocate failed due to unknown Device Plugin nvidia.com/gpu, which is unexpected", UnknownPlugin(GPU)),
    (
        "Allocate failed due to endpoint /var/lib/kubelet/device-plugins/nvidia-gpu.sock has been stopped, "
        "which is unexpected",
        EndpointStopped(),
    ),
    (
        "Allocate failed due to device plugin GetPreferredAllocation rpc failed with err: rpc error: code = Unknown "
        "desc = error getting list of preferred allocation devices: GPU is lost, which is unexpected",
        PluginFailed(
            "",
            "GetPreferredAllocation",
            "rpc error: code = Unknown desc = error getting list of preferred allocation devices: GPU is lost",
        ),
    ),
    (
        "Pod was rejected: Allocate failed due to rpc error: code = Unknown desc = invalid allocation request for "
        '"nvidia.com/gpu": invalid request: unknown device: GPU-9, which is unexpected',
        PluginFailed(
            "",
            "Allocate",
            'code = Unknown desc = invalid allocation request for "nvidia.com/gpu": invalid request: '
            "unknown device: GPU-9",
        ),
    ),
    ("Update plugin resources failed due to something new, which is unexpected.", OtherRefusal("", "something new")),
    ("words that nobody knows", OtherRefusal("", "words that nobody knows")),
    ("", OtherRefusal("", "")),
]


@pytest.mark.parametrize(("message", "refusal"), SEEN, ids=[type(refusal).__name__ for _, refusal in SEEN])
def test_a_refusal_is_read_from_its_text(message: str, refusal: Refusal) -> None:
    assert parse_refusal(UNEXPECTED, message) == refusal


def test_the_fit_check_names_its_numbers() -> None:
    message = "Pod was rejected: Node didn't have enough resource: nvidia.com/gpu, requested: 1, used: 2, capacity: 2"
    assert parse_refusal("OutOfnvidia.com/gpu", message) == OutOf(GPU, requested=1, used=2, capacity=2)
    assert parse_refusal("OutOfnvidia.com/gpu", "in other words") == OutOf(GPU)


def test_a_topology_refusal_is_its_own() -> None:
    assert parse_refusal("TopologyAffinityError", "Resources cannot be allocated with Topology locality") == (
        TopologyRefused()
    )


@pytest.mark.parametrize("reason", ["Evicted", "Preempting", "", "Error"])
def test_other_reasons_are_no_refusal(reason: str) -> None:
    assert parse_refusal(reason, "Allocate failed due to x, which is unexpected") is None
