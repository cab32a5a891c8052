"""`why`, `capacity`, `fit` and the metrics give one answer, on every recorded bundle and on made-up clusters."""

import io
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.capacity.ask import asking
from lockgate.capacity.fit import fit
from lockgate.capacity.fragmentation import fragmentation
from lockgate.capacity.overview import accounts, measured, overview, scene_of
from lockgate.capacity.samples import SIZES
from lockgate.capacity.table import By
from lockgate.collect.offline import from_path
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import Target
from lockgate.diagnosis.views.gate_one import gate_one
from lockgate.model.facts import Missing, Snapshot
from lockgate.rules import all_rules
from tests.capacity.build import GPU, gpu_node, gpu_pod

BUNDLES = sorted((Path(__file__).parents[1] / "bundles").glob("*.tgz"))


@pytest.fixture(params=BUNDLES, ids=lambda path: path.stem)
def snapshot(request: pytest.FixtureRequest) -> Snapshot:
    seen = from_path(str(request.param), io.BytesIO())
    if isinstance(seen.nodes, Missing) or isinstance(seen.pods, Missing):
        pytest.skip("the bundle has no nodes, or not the pods of all namespaces")
    return seen


def test_why_and_capacity_count_alike(snapshot: Snapshot) -> None:
    assert not isinstance(snapshot.nodes, Missing)
    rows = gate_one(asking("default", gpus=1), snapshot.nodes, snapshot.pods, snapshot.namespaces).rows
    told = {row.node: (row.capacity, row.allocatable, row.requested, row.headroom) for row in rows if row.known}
    counted = {
        account.node: (slots.capacity, slots.allocatable, slots.requested, slots.headroom)
        for account in accounts(snapshot)
        if (slots := account.slots_named(GPU)) is not None
    }
    assert told == counted


def test_a_single_gpu_fits_where_why_sees_nothing_in_the_way(snapshot: Snapshot) -> None:
    assert not isinstance(snapshot.nodes, Missing)
    ask = asking("default", gpus=1)
    open_rows = gate_one(ask, snapshot.nodes, snapshot.pods, snapshot.namespaces).open_rows
    assert fit(ask, scene_of(snapshot)).fits == bool(open_rows)


def test_the_metrics_are_the_rows_of_the_table(snapshot: Snapshot) -> None:
    _compare_samples(snapshot)


def _compare_samples(snapshot: Snapshot) -> None:
    found = {(s.name.removeprefix("lockgate_gpu_"), *sorted(s.labels.items())): s.value for s in measured(snapshot)}
    for row in overview(snapshot, By.PRODUCT).rows:
        about = (("product", row.key), ("resource", row.resource))
        for state in ("requested", "headroom", "locked", "unhealthy", "overheld"):
            if row.resource:
                assert found["slots", *about, ("state", state)] == getattr(row, state)
                assert found["largest_request", *about] == row.largest


def test_fragments_are_counted_by_product() -> None:
    nodes = (gpu_node("a", 3), gpu_node("b", 5, labels={"nvidia.com/gpu.product": "T4"}))
    found = measured(Snapshot(nodes=nodes, pods=(), node_states=()))
    fitting = {s.labels["product"]: s.value for s in found if s.labels.get("size") == "2" and "fit" in s.name}
    assert sorted(fitting.values()) == [1, 2]


CLUSTERS = st.lists(st.tuples(st.integers(1, 8), st.integers(0, 8), st.booleans()), min_size=1, max_size=5)


@settings(max_examples=150, deadline=None)
@given(CLUSTERS, st.sampled_from(SIZES))
def test_rules_fit_and_metrics_agree_on_what_is_free_held_or_in_pieces(
    cluster: list[tuple[int, int, bool]], size: int
) -> None:
    """A pod that asks for GPUs alone: it fits, every GPU is held (C09), or they are free in pieces (C10)."""
    nodes = tuple(gpu_node(f"n{i}", gpus, unschedulable=closed) for i, (gpus, _, closed) in enumerate(cluster))
    holders = [gpu_pod(f"h{i}", min(held, gpus), node=f"n{i}") for i, (gpus, held, _) in enumerate(cluster)]
    seen = Snapshot(nodes=nodes, pods=(*holders, gpu_pod("ask", size)), namespaces=(), node_states=())
    seen = msgspec.structs.replace(seen, namespace_pods=seen.pods)
    pieces = fragmentation(accounts(seen), scene_of(seen), GPU, {GPU: size})
    counted = {sample.labels["size"]: sample.value for sample in measured(seen) if "fit" in sample.name}
    assert counted[str(size)] == pieces.copies
    assert fit(gpu_pod("ask", size), scene_of(seen), 100).copies == pieces.copies
    findings = diagnose(seen, Target("Pod", "ask", "default"), all_rules()).findings
    causes = {finding.id for finding in findings}
    assert ("scheduling/fragmented" in causes) == pieces.fragmented
    if "scheduling/all-held" in causes:
        assert pieces.copies == 0
    if pieces.copies:
        assert not any(cause.startswith("scheduling/") for cause in causes)
    _compare_samples(seen)
