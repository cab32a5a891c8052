"""A few hundred decisions of the real kube-scheduler, compared; `python -m tests.truth.scheduler` tries thousands."""

import shutil
from collections.abc import Iterator

import pytest

from tests.truth.scheduler.compare import Tally, prepare, run
from tests.truth.scheduler.control_plane import control_plane
from tests.truth.scheduler.dry_run import compare

pytestmark = pytest.mark.truth


@pytest.fixture(scope="module")
def tally() -> Iterator[Tally]:
    if shutil.which("go") is None:
        pytest.skip("Go is not installed: kube-scheduler is built from its source")
    with control_plane() as client:
        prepare(client)
        yield run(client, seed=20260, pods=400, say=lambda _: None)


def test_every_decision_and_every_word_of_it_is_the_schedulers(tally: Tally) -> None:
    assert [(d.scheduler, d.model, d.pod["spec"]) for d in tally.differences] == []


def test_both_outcomes_and_most_filters_were_met(tally: Tally) -> None:
    assert tally.bound > 50
    assert tally.unschedulable > 100
    assert len(tally.reasons) >= 15
    assert tally.refused < tally.pods / 10


def test_as_many_copies_fit_as_the_scheduler_binds() -> None:
    if shutil.which("go") is None:
        pytest.skip("Go is not installed: kube-scheduler is built from its source")
    with control_plane() as client:
        prepare(client)
        seen = compare(client, seed=3, nodes=60, gpus=1)
    assert seen.bound == seen.modelled > 20
