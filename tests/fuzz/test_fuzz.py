"""A few hundred inputs of the fuzz in the quick suite; `python -m tests.fuzz` runs ten thousand."""

from pathlib import Path

import pytest

from tests.fuzz.campaign import judged, smallest
from tests.fuzz.packing import OF_ONE
from tests.fuzz.samples import Kind, samples
from tests.fuzz.trial import Trial, trial
from tests.fuzz.verdict import Ran, wrong_with

_SEED, _PIECES, _EACH = 0, 12, 40


@pytest.mark.parametrize("piece", range(_PIECES))
def test_spoilt_input_ends_in_an_answer_or_one_clear_line(piece: int) -> None:
    wrong = {}
    for number in range(piece * _EACH, (piece + 1) * _EACH):
        ran, complaint = judged(trial(_SEED, number))
        if complaint:
            wrong[number] = (complaint, ran.said[:300], ran.error)
    assert wrong == {}


def test_everything_that_is_read_is_among_the_samples() -> None:
    assert {one.kind for one in samples()} == set(Kind)
    assert len({one.name for one in samples()}) > 400


def test_a_trial_is_the_same_each_time(tmp_path: Path) -> None:
    asked = []
    for place in (tmp_path / "a", tmp_path / "b"):
        place.mkdir()
        arguments, _ = trial(3, 14).make(place)
        asked.append([argument.replace(str(place), "") for argument in arguments])
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    ("ran", "says"),
    [
        (Ran(-1, "", "", 0, 0, error="Traceback\nKeyError: 1", place="a.py:f"), "traceback: KeyError: 1 at a.py:f"),
        (Ran(1, "", "lockgate: no\n", 0, 0), "exit status 1"),
        (Ran(2, "", "", 0, 0), "no clear line"),
        (Ran(2, "half\n", "lockgate: no\n", 0, 0), "a complaint and an answer"),
        (Ran(0, "\x1b[2J\n", "", 0, 0), "control characters"),
        (Ran(0, "", "", 0, 0), "no word"),
        (Ran(0, "fine\n", "", 99.0, 0), "slow"),
        (Ran(0, "fine\n", "", 0, 9999), "memory"),
    ],
)
def test_what_a_person_would_call_a_bug_is_called_one(ran: Ran, says: str) -> None:
    assert wrong_with(ran, ["why"]).startswith(says)
    assert wrong_with(Ran(0, "fine\n", "", 0, 0), ["why"]) == ""


def test_a_failure_is_made_smaller() -> None:
    text = next(one for one in samples() if one.kind is Kind.WAIVERS)
    broken = Trial(0, text, steps=(1, 2, 3), pack=OF_ONE[0], hostile=False, seed=1)
    wrong = judged(broken)[1]
    assert smallest(broken, wrong).steps == ()
