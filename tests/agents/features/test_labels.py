"""The labels of a node are NVIDIA's, and the same however the driver lists its GPUs."""

import itertools

import pytest

from lockgate.agents.features.labels import Surroundings, family, node_labels, sanitise
from lockgate.agents.sharing import Replicated, Sharing
from lockgate.gpu.values import Capability, Snapshot
from tests.agents.device_plugin.gpus import LOST, fabric, gpu, mig, snapshot

GPU = "nvidia.com/gpu"
AROUND = Surroundings(machine="PowerEdge R750xa\n", timestamp=1_800_000_000)
NONE = Sharing()


def _labels(seen: Snapshot, strategy: str = "none", sharing: Sharing = NONE) -> dict[str, str]:
    labels = node_labels(seen, strategy, sharing, AROUND)
    assert all(key.startswith("nvidia.com/") for key in labels)
    return {key.removeprefix("nvidia.com/"): value for key, value in labels.items()}


def test_a_node_with_two_a100_has_exactly_these_labels() -> None:
    assert _labels(snapshot(gpu(0), gpu(1))) == {
        "cuda.driver-version.full": "580.95.05",
        "cuda.driver-version.major": "580",
        "cuda.driver-version.minor": "95",
        "cuda.driver-version.revision": "05",
        "cuda.driver.major": "580",
        "cuda.driver.minor": "95",
        "cuda.driver.rev": "05",
        "cuda.runtime-version.full": "13.0",
        "cuda.runtime-version.major": "13",
        "cuda.runtime-version.minor": "0",
        "cuda.runtime.major": "13",
        "cuda.runtime.minor": "0",
        "gfd.timestamp": "1800000000",
        "gpu.compute.major": "8",
        "gpu.compute.minor": "0",
        "gpu.count": "2",
        "gpu.family": "ampere",
        "gpu.machine": "PowerEdge-R750xa",
        "gpu.memory": "40960",
        "gpu.mode": "compute",
        "gpu.product": "NVIDIA-A100-SXM4-40GB",
        "gpu.replicas": "1",
        "gpu.sharing-strategy": "none",
        "mig.capable": "true",
        "mps.capable": "false",
        "vgpu.present": "false",
    }


def test_without_a_gpu_little_is_said() -> None:
    assert _labels(snapshot()) == {"gfd.timestamp": "1800000000", "vgpu.present": "false"}


def test_what_cannot_be_read_has_no_label() -> None:
    labels = _labels(snapshot(gpu(0, memory_mib=LOST, capability=LOST, mig_enabled=None)))
    assert not {"gpu.memory", "gpu.family", "gpu.compute.major"} & labels.keys()
    assert labels["mig.capable"] == "false"


def test_a_driver_version_of_two_parts_has_an_empty_revision() -> None:
    seen = Snapshot("470.82", 11040, (gpu(0),))
    labels = _labels(seen)
    assert (labels["cuda.driver-version.revision"], labels["cuda.runtime-version.full"]) == ("", "11.4")


def test_on_a_mixed_node_the_commoner_model_speaks_in_any_order() -> None:
    gpus = [gpu(0, name="Tesla T4", memory_mib=15360), gpu(1), gpu(2)]
    seen = {tuple(_labels(snapshot(*order)).items()) for order in itertools.permutations(gpus)}
    assert len(seen) == 1
    labels = dict(seen.pop())
    assert (labels["gpu.product"], labels["gpu.count"]) == ("NVIDIA-A100-SXM4-40GB", "2")


def test_of_two_equally_common_models_the_larger_speaks() -> None:
    labels = _labels(snapshot(gpu(0, name="Tesla T4", memory_mib=15360), gpu(1)))
    assert (labels["gpu.product"], labels["gpu.memory"]) == ("NVIDIA-A100-SXM4-40GB", "40960")


def test_shared_gpus_say_so_in_their_product() -> None:
    labels = _labels(snapshot(gpu(0)), sharing=Sharing({GPU: Replicated(4, GPU)}))
    assert labels["gpu.product"] == "NVIDIA-A100-SXM4-40GB-SHARED"
    assert (labels["gpu.replicas"], labels["gpu.count"], labels["gpu.sharing-strategy"]) == ("4", "1", "time-slicing")


def test_shared_gpus_that_are_renamed_keep_product_and_label_names() -> None:
    labels = _labels(snapshot(gpu(0)), sharing=Sharing({GPU: Replicated(4, f"{GPU}.shared")}))
    assert (labels["gpu.product"], labels["gpu.replicas"]) == ("NVIDIA-A100-SXM4-40GB", "4")


def test_mixed_describes_each_profile_beside_the_gpus() -> None:
    seen = snapshot(gpu(0), gpu(1, mig_enabled=True, mig=(mig(1, 0), mig(1, 1), mig(1, 2, "1g.10gb+me"))))
    labels = _labels(seen, "mixed")
    assert labels["mig.strategy"] == "mixed"
    assert labels["gpu.count"] == "2"
    described = {key: value for key, value in labels.items() if key.startswith("mig-1g.5gb.")}
    assert described == {
        "mig-1g.5gb.product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb",
        "mig-1g.5gb.count": "2",
        "mig-1g.5gb.replicas": "1",
        "mig-1g.5gb.sharing-strategy": "none",
        "mig-1g.5gb.memory": "4864",
        "mig-1g.5gb.multiprocessors": "14",
        "mig-1g.5gb.slices.gi": "1",
        "mig-1g.5gb.slices.ci": "1",
        "mig-1g.5gb.engines.copy": "1",
        "mig-1g.5gb.engines.decoder": "0",
        "mig-1g.5gb.engines.encoder": "0",
        "mig-1g.5gb.engines.jpeg": "0",
        "mig-1g.5gb.engines.ofa": "0",
    }
    assert labels["mig-1g.10gb.me.product"] == "NVIDIA-A100-SXM4-40GB-MIG-1g.10gb.me"


def test_single_describes_mig_devices_as_the_gpus() -> None:
    labels = _labels(snapshot(gpu(0, mig_enabled=True, mig=(mig(0, 0), mig(0, 1)))), "single")
    assert labels["gpu.product"] == "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb"
    assert (labels["gpu.count"], labels["gpu.memory"], labels["gpu.replicas"]) == ("2", "4864", "1")


@pytest.mark.parametrize(
    "gpus",
    [
        (gpu(0), gpu(1, mig_enabled=True, mig=(mig(1, 0),))),
        (gpu(0, mig_enabled=True),),
        (gpu(0, mig_enabled=True, mig=(mig(0, 0), mig(0, 1, "2g.10gb"))),),
    ],
)
def test_single_with_a_layout_that_cannot_be_counts_nothing(gpus: tuple[object, ...]) -> None:
    labels = _labels(snapshot(*gpus), "single")  # type: ignore[arg-type]
    assert labels["gpu.product"] == "NVIDIA-A100-SXM4-40GB-MIG-INVALID"
    assert [labels[f"gpu.{name}"] for name in ("count", "replicas", "memory", "sharing-strategy")] == [
        "0",
        "0",
        "0",
        "",
    ]


def test_single_without_mig_is_as_none_but_names_the_strategy() -> None:
    single, none = _labels(snapshot(gpu(0)), "single"), _labels(snapshot(gpu(0)))
    assert single == none | {"mig.strategy": "single"}


def test_a_whole_gpu_with_mig_on_can_be_replicated_no_times() -> None:
    assert _labels(snapshot(gpu(0, mig_enabled=True)))["gpu.replicas"] == "0"


def test_one_fabric_gives_a_clique() -> None:
    seen = snapshot(gpu(0, fabric=fabric(7)), gpu(1, fabric=fabric(7)))
    assert _labels(seen)["gpu.clique"] == "11111111-2222-3333-4444-555555555555.7"


@pytest.mark.parametrize(
    "other",
    [
        fabric(8),
        fabric(7, state=2),
        fabric(7, status=1),
        fabric(7, cluster="00000000-0000-0000-0000-000000000000"),
        LOST,
    ],
)
def test_no_common_fabric_gives_none(other: object) -> None:
    assert "gpu.clique" not in _labels(snapshot(gpu(0, fabric=fabric(7)), gpu(1, fabric=other)))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("some ( thing )else", "some-thing-else"),
        ("NVIDIA-TITAN-X-(Pascal)", "NVIDIA-TITAN-X-Pascal"),
        (" input  with multiple   spaces   ", "input-with-multiple-spaces"),
        ("Standard PC (Q35 + ICH9, 2009)\n", "Standard-PC-Q35-ICH9-2009"),
        ("Example\tInc.", "Example-Inc"),
        ("a" * 62 + " b", "a" * 62),
        ("???", ""),
    ],
)
def test_values_are_made_fit_for_labels_as_nvidia_does(text: str, value: str) -> None:
    assert sanitise(text) == value


@pytest.mark.parametrize(
    ("capability", "name"),
    [((6, 1), "pascal"), ((7, 0), "volta"), ((7, 5), "turing"), ((8, 6), "ampere"), ((8, 9), "ada-lovelace"),
     ((9, 0), "hopper"), ((10, 0), "blackwell"), ((12, 0), "blackwell"), ((13, 0), "rubin"), ((4, 0), "undefined")],
)  # fmt: skip
def test_families(capability: tuple[int, int], name: str) -> None:
    assert family(Capability(*capability)) == name
