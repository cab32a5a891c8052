"""kubectl's label selectors (`-l app=train,tier!=test,team in (a,b),!old`) as a question to an object's labels.

Source: k8s.io/apimachinery/pkg/labels, Parse: equality, set and existence, joined by commas; `!=` and `notin` also hold
where the label is absent.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

Labels = Mapping[str, str]
Term = Callable[[Labels], bool]

_KEY: Final = r"(?P<key>[A-Za-z0-9][\w./-]*)"
_SET: Final = re.compile(rf"{_KEY}\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)")
_EQUAL: Final = re.compile(rf"{_KEY}\s*(?P<operator>==|!=|=)\s*(?P<value>[\w.-]*)")
_EXISTS: Final = re.compile(rf"(?P<absent>!?)\s*{_KEY}")
_COMMA: Final = re.compile(r",(?![^()]*\))")  # not one between parentheses


class LabelQueryError(ValueError):
    """What was typed is no label selector."""


def parse_query(text: str) -> Term:
    """Whether labels fit; raises LabelQueryError for what kubectl would refuse."""
    terms = [_term(part.strip(), text) for part in _COMMA.split(text)]
    return lambda labels: all(term(labels) for term in terms)


def _term(part: str, whole: str) -> Term:
    if found := _SET.fullmatch(part):
        values = {value.strip() for value in found["values"].split(",")}
        return _among(found["key"], values, wanted=found["operator"] == "in")
    if found := _EQUAL.fullmatch(part):
        return _among(found["key"], {found["value"]}, wanted=found["operator"] != "!=")
    if found := _EXISTS.fullmatch(part):
        key, there = found["key"], not found["absent"]
        return lambda labels: (key in labels) == there
    raise LabelQueryError(f'"{whole}" is no label selector: expected for example app=train,tier!=test')


def _among(key: str, values: set[str], *, wanted: bool) -> Term:
    return lambda labels: (labels.get(key) in values) == wanted
