"""Lines of a terminal: what is too long for a column."""

import pytest

from lockgate.capacity.overview import overview
from lockgate.capacity.table import By
from lockgate.cli.render import capacity_text
from lockgate.cli.render.lines import short_name
from lockgate.model.facts import Snapshot
from tests.capacity.build import gpu_node

ALIKE = ("gke-prod-europe-gpu-a100-pool-8f3a2b1c-x9kd", "gke-prod-europe-gpu-a100-pool-8f3a2b1c-q2rw")


@pytest.mark.parametrize("width", [8, 21, 26, 60])
def test_a_short_name_fits_and_keeps_both_ends(width: int) -> None:
    short = short_name(ALIKE[0], width)
    assert len(short) == min(width, len(ALIKE[0]))
    assert (short[:3], short[-4:]) == ("gke", "x9kd")
    assert short_name("gpu-1", width) == "gpu-1"


def test_nodes_of_one_pool_are_told_apart_in_capacity() -> None:
    seen = overview(Snapshot(nodes=tuple(map(gpu_node, ALIKE)), pods=()), By.NODE)
    keys = [line.split()[0] for line in capacity_text.as_text(seen).splitlines() if line.startswith("gke-")]
    assert sorted(keys) == ["gke-prod-eur…8f3a2b1c-q2rw", "gke-prod-eur…8f3a2b1c-x9kd"]
