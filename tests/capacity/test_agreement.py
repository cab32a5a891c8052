"""`why`, `capacity` and `fit` give one answer: the same numbers on every recorded bundle."""

import io
from pathlib import Path

import pytest

from lockgate.capacity.ask import asking
from lockgate.capacity.fit import fit
from lockgate.capacity.overview import accounts, scene_of
from lockgate.collect.offline import from_path
from lockgate.diagnosis.views.gate_one import gate_one
from lockgate.model.facts import Missing, Snapshot

BUNDLES = sorted((Path(__file__).parents[1] / "bundles").glob("*.tgz"))
GPU = "nvidia.com/gpu"


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
