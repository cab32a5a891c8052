"""Hostile facts through every rule: fields that lack, of the wrong type at the door, or huge; texts made to be slow.

What comes through the door is diagnosed without an exception, whatever the rules make of it; what does not is refused
in one line. No pattern that reads foreign text takes more than its share of time.
"""

import importlib
import pkgutil
import random
import re
import time
from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lockgate.diagnosis
import lockgate.rules
import lockgate.scheduling
import lockgate.xid
from lockgate.collect.decode import typed
from lockgate.collect.errors import InputError
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.rule import Rule
from lockgate.diagnosis.target import TargetMissingError, parse_target
from lockgate.model.facts import API_SECTIONS, Snapshot
from lockgate.rules import all_rules
from tests.corpus.variants import World, world
from tests.corpus.written import Case, load, of_rules
from tests.fuzz.spoil_objects import spoil
from tests.rules.world import snapshot_of

_LONG = 8_000  # containers' runtimes cut lines of logs at 16 KB, the API server cuts events at 1 KB
_SLOW = 1.0  # seconds of CPU for a text that long; a straightforward pattern takes a thousandth of it


@cache
def _rules() -> tuple[Rule, ...]:
    return tuple(all_rules())


@cache
def _cases() -> tuple[Case, ...]:
    return tuple(c for c in chain(load("reports"), load("pairs"), of_rules()))


def _through_the_door(given: World) -> Snapshot:
    """The snapshot as a collector makes it, object by object; InputError where one is refused."""
    plain = snapshot_of({s.section: [] for s in API_SECTIONS}, given.beside)
    read = {
        s.section: tuple(typed(s.plural, msgspec.json.encode(o), s) for o in given.objects[s.section])
        for s in API_SECTIONS
        if s.section not in given.beside.get("missing", ())
    }
    near = {} if "namespace_pods" in given.beside.get("missing", ()) else {"namespace_pods": read.get("pods", ())}
    return msgspec.structs.replace(plain, **read, **near)


@given(which=st.integers(0, 10_000), seed=st.integers(0, 2**32))
@settings(max_examples=250, deadline=None)
def test_no_rule_fails_on_spoilt_objects(which: int, seed: int) -> None:
    case = _cases()[which % len(_cases())]
    spoilt, dice = world(case.facts), random.Random(seed)
    spoil(spoilt.objects, dice)
    try:
        facts = _through_the_door(spoilt)
    except InputError as error:
        assert "\n" not in str(error)
        return
    for ask in (*case.asks, "", "node/gpu-a", "operand/device-plugin"):
        try:
            diagnose(facts, parse_target(ask, "default"), _rules())
        except TargetMissingError:
            continue


# --- texts


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    for root in (lockgate.rules, lockgate.diagnosis, lockgate.scheduling, lockgate.xid):
        for found in pkgutil.walk_packages(root.__path__, f"{root.__name__}."):
            for name, value in vars(importlib.import_module(found.name)).items():
                for pattern in _inside(value):
                    yield f"{found.name}.{name}", pattern


def _inside(value: Any, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4 and isinstance(value, (tuple, list, frozenset)):
        for each in value:
            yield from _inside(each, depth + 1)
    elif depth < 4 and isinstance(value, dict):
        for each in value.items():
            yield from _inside(each, depth + 1)


def _hostile(pattern: re.Pattern[str]) -> Iterator[str]:
    """Long texts of what a pattern looks for, begun again and again and never finished."""
    words = re.findall(r"[A-Za-z][A-Za-z _()/-]{3,}", pattern.pattern)[:4]
    for piece in ("a", " ", ":", '"', "a=1, ", "\n ", "Xid ", *words, *(f"{w}{' ' * 99}a" for w in words)):
        yield (piece * (_LONG // len(piece) + 1))[:_LONG]


def test_no_pattern_takes_more_than_its_share_of_time() -> None:
    slow, seen = [], set()
    for name, pattern in _patterns():
        if pattern in seen or not isinstance(pattern.pattern, str):
            continue
        seen.add(pattern)
        for text in _hostile(pattern):
            began = time.process_time()
            pattern.search(text)
            if time.process_time() - began > _SLOW:
                slow.append(f"{name}: {pattern.pattern[:80]}")
                break
    assert len(seen) > 100
    assert slow == []


# --- many


@pytest.mark.parametrize("ask", ["pod/x", ""])
def test_twice_as_much_takes_about_twice_as_long(ask: str) -> None:
    """Events, log lines and pods eight times as many may take a little more than eight times, never sixty-four."""
    few, many = (_time(ask, size) for size in (250, 2000))
    assert many < 24 * few + 0.5, f"{few:.3f} s for 250, {many:.3f} s for 2,000"


def _time(ask: str, size: int) -> float:
    facts = world(
        {
            "operator": {"nodes": ["gpu-a"]},
            "nodes": {"gpu-a": {}, "gpu-b#": {"times": size // 10, "status": {"allocatable": {"nvidia.com/gpu": "1"}}}},
            "pods": {
                "default/x": {},
                "default/w#": {"times": size, "metadata": {"labels": {"n": "#"}}},
                "ml/r#": {
                    "times": size,
                    "like": "refused",
                    "status": {"message": "Allocate failed due to no reason #"},
                },
                "ml/a#": {"times": 2 * (size // 10), "like": "running", "spec": {"nodeName": "gpu-b#"}},
            },
            "said": [
                {
                    "about": "pod/default/x",
                    "reason": "FailedScheduling",
                    "message": f"0/9 nodes are available: {n} Too many x.",
                }
                for n in range(size)
            ],
            "logs": {
                "gpu-operator/nvidia-device-plugin-daemonset-gpu-a/nvidia-device-plugin": "an error again\n" * size
            },
            "files": {"gpu-a": {"dmesg": "[ 1.0] NVRM: something is wrong\n" * size}},
        }
    )
    made = snapshot_of(facts.objects, facts.beside)
    began = time.process_time()
    diagnose(made, parse_target(ask, "default"), _rules())
    return time.process_time() - began
