"""The model says what eight real containerd binaries said of 260 recorded sets of files."""

import json
from typing import Any

import pytest

from lockgate.containerd import ConfigError, Release, View, resolve
from lockgate.containerd.baselines import baseline
from lockgate.containerd.values import plain_table
from tests.truth.containerd.record import changes
from tests.truth.containerd.recorded import FOLDER, TOP_LEVEL, Recorded, differences, model, recorded

RELEASES = ("1.6.20", "1.7.24", "1.7.27", "1.7.34", "2.1.9", "2.2.1", "2.3.4", "2.4.0-beta.0")

# Two of the plugin names in this version 1 file mean the same plugin; which of the two tables survives is up to the
# order in which Go walks a map, so containerd itself answers differently from run to run.
UP_TO_CHANCE = {("7-0031", "2.4.0-beta.0")}


@pytest.fixture(scope="module")
def sets() -> list[Recorded]:
    return recorded()


@pytest.mark.parametrize("release", RELEASES)
def test_every_recorded_set_has_the_recorded_outcome(release: str, sets: list[Recorded]) -> None:
    wrong = {
        row.id: found
        for row in sets
        if (row.id, release) not in UP_TO_CHANCE
        and (found := differences(row.truth[release], model(row.files, release), release))
    }
    assert wrong == {}


def test_the_record_covers_260_sets_on_all_eight_releases(sets: list[Recorded]) -> None:
    assert len(sets) == 260
    assert all(set(row.truth) == set(RELEASES) for row in sets)


def found_cases() -> list[Any]:
    return [json.loads(line) for line in (FOLDER / "containerd_found.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", found_cases(), ids=lambda case: case["id"])
def test_a_set_on_which_the_model_was_once_wrong_has_the_outcome_of_the_real_programs(case: Any) -> None:
    assert {release: outcome(case["files"], release) for release in case["truth"]} == {
        release: {"error": True} if "error" in seen else seen for release, seen in case["truth"].items()
    }


def outcome(files: dict[str, str], release: str) -> dict[str, Any]:
    found = resolve(files, TOP_LEVEL, Release.parse(release), view=View.DUMP)
    if isinstance(found, ConfigError):
        return {"crash": True} if found.panics else {"error": True}
    built_in = baseline(found.release.family.baseline)
    return {"changes": changes(plain_table(built_in), plain_table(found.document))}
