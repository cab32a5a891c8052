"""What has not the shape that is looked for is not there, whatever it is."""

from typing import Any

import pytest

from lockgate.kit.untyped import mapping_at, mappings_at


@pytest.mark.parametrize("spec", [None, "x", 3, ["a"], {}, {"a": None}, {"a": "x"}, {"a": ["x"]}, {"a": {"b": "x"}}])
def test_another_shape_is_an_empty_one(spec: Any) -> None:
    assert mapping_at(spec, "a", "b") == {}
    assert mappings_at(spec, "a", "b") == ()


def test_objects_are_found_by_their_path() -> None:
    spec = {"a": {"b": {"c": 1}, "list": [{"d": 2}, "x", None]}}
    assert mapping_at(spec, "a", "b") == {"c": 1}
    assert mapping_at(spec) == spec
    assert mappings_at(spec, "a", "list") == ({"d": 2},)
