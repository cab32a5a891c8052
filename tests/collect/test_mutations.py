"""Mutated input: whatever a broken disk, editor or sender makes of it, the answer is a diagnosis or one clear line."""

import io
import json
import random
import tarfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.collect.errors import InputError
from lockgate.collect.offline import from_bytes
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import Target, TargetMissingError
from lockgate.rules import all_rules
from tests.collect.test_offline import DESCRIBED

RULES = all_rules()


def _facts() -> bytes:
    with tarfile.open(Path(__file__).parents[1] / "bundles" / "all-held.tgz") as tar:
        files = [tar.extractfile(f"all-held/cluster/{plural}.json") for plural in ("nodes", "pods", "events")]
        items = [
            item
            for file in files
            if file
            for item in json.load(file)["items"]
            if "gpu-operator" not in json.dumps(item)
        ]
    return json.dumps({"kind": "List", "items": items}).encode()


FACTS = _facts()
# What editors, terminals and people put in the wrong place.
SPLINTERS = (
    b"",
    b"null",
    b"[]",
    b"{}",
    b'"',
    b"\\",
    b"\0",
    b"\xff",
    b"1e999",
    b"-1",
    b"true",
    b"\n",
    b":",
    b'"two"',
    b"&a *a",
)


def mutated(data: bytes, dice: random.Random) -> bytes:
    """The data with a few pieces cut, doubled or replaced."""
    for _ in range(dice.randint(1, 4)):
        at, length = dice.randrange(len(data) + 1), dice.choice((1, 1, 2, 8, 200))
        piece = dice.choice((*SPLINTERS, data[at : at + length] * 2))
        data = data[:at] + piece + data[at + length :]
    return data


def explain(data: bytes, target: Target) -> None:
    try:
        diagnosis = diagnose(from_bytes("x", data), target, RULES)
    except (InputError, TargetMissingError) as error:
        assert "\n" not in str(error)
        return
    assert diagnosis.headline


@given(st.integers(0, 2**32))
@settings(max_examples=400, deadline=None)
def test_mutated_objects_never_end_in_a_traceback(seed: int) -> None:
    explain(mutated(FACTS, random.Random(seed)), Target("Pod", "late"))


@given(st.integers(0, 2**32))
@settings(max_examples=400, deadline=None)
def test_a_mutated_description_never_ends_in_a_traceback(seed: int) -> None:
    explain(mutated(DESCRIBED.encode(), random.Random(seed)), Target("Pod", "train-0"))


@given(st.binary(max_size=200))
@settings(max_examples=400, deadline=None)
def test_any_bytes_are_refused_in_one_line(data: bytes) -> None:
    explain(data, Target("Pod", "x"))


def test_the_facts_that_are_mutated_are_good_ones() -> None:
    diagnosis = diagnose(from_bytes("x", FACTS), Target("Pod", "late"), RULES)
    assert diagnosis.findings
    assert io.BytesIO(FACTS).read(1) == b"{"
