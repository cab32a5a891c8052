"""The cases that are written down: rebuilt reports, healthy estates, pairs of faults, and those of the rules.

All of them say facts in the words of `tests.rules.world`. A rule's failing case expects the rule, or what it names as
its cause; what it names `beside` is as true, and nothing but a named cause decides which is mended first.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import yaml

import lockgate.rules
from tests.corpus.judge import Expect

HERE = Path(__file__).parent
_RULES = Path(lockgate.rules.__file__).parent
KEYS = {"about", "ask", "answer", "also", "any_order", "facts"}


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """Facts, what is asked of them, and one expectation for all that is asked."""

    name: str
    asks: tuple[str, ...]
    facts: dict[str, Any]
    expect: Expect


def load(folder: str) -> Iterator[Case]:
    """The cases of a folder beside this file, by name."""
    for path in sorted((HERE / folder).glob("*.yaml")):
        document = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
        assert set(document) <= KEYS, f"{path}: unknown keys {sorted(set(document) - KEYS)}"
        yield Case(
            name=path.stem,
            asks=tuple(document.get("ask", ("",))),
            facts=document["facts"],
            expect=Expect(
                causes=tuple(document.get("answer", ())),
                also=tuple(document.get("also", ())),
                any_order=document.get("any_order", False),
            ),
        )


def of_rules() -> Iterator[Case]:
    """The failing cases beside the rules."""
    for path in sorted(_RULES.rglob("*.yaml")):
        rule = str(path.relative_to(_RULES)).removesuffix(".yaml").replace("_", "-")
        for case in yaml.load(path.read_text(), Loader=yaml.CSafeLoader)["cases"]:
            if case["kind"] == "failing":
                yield Case(
                    name=f"{rule}: {case['case']}",
                    asks=(case.get("ask", "pod/x"),),
                    facts=case["facts"],
                    expect=_of_rule(rule, case),
                )


def _of_rule(rule: str, case: dict[str, Any]) -> Expect:
    causes = (case.get("cause", rule), *case.get("beside", ()))
    return Expect(causes=causes, any_order="cause" not in case)
