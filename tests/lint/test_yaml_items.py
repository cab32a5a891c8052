"""YAML with places: what it says is what a loader says, and edits change what they mean and no other character."""

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.lint.yaml_edits import with_child, with_key, with_pair, with_scalar, without
from lockgate.lint.yaml_items import Item, YamlError, documents

TEXT = """\
# é, which is two bytes
kind: Pod
spec:
  containers:
  - name: a  # the first
    env:
    - name: X
      value: "1"

    # about Y
    - {name: Y, value: 'it''s'}
    resources:
      limits: {nvidia.com/gpu: 1}
  # the end
metadata: {}
"""
_PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abcxyz.-/", min_size=1), inner, max_size=4),
    max_leaves=12,
)


def plain(item: Item) -> Any:
    if item.mapping is not None:
        return {name: plain(child) for name, child in item.pairs()}
    return [plain(child) for child in item.each()] if item.sequence is not None else item.value


@settings(max_examples=200)
@given(st.dictionaries(st.text("abcxyz.-/", min_size=1), _PLAIN, min_size=1, max_size=4), st.booleans())
def test_values_are_those_of_a_loader(value: dict[str, Any], flow: bool) -> None:
    text = yaml.safe_dump(value, allow_unicode=True, default_flow_style=flow)
    (found,) = documents(text)
    assert plain(found) == yaml.safe_load(text)


def test_places_count_characters() -> None:
    (found,) = documents(TEXT)
    name = found.items("spec", "containers")[0].get("name")
    assert name is not None and name.key is not None
    assert (name.line, TEXT[name.key.start : name.key.end], TEXT[name.span.start : name.span.end]) == (5, "name", "a")


def container() -> Item:
    return documents(TEXT)[0].items("spec", "containers")[0]


@pytest.mark.parametrize(
    ("edited", "old", "new"),
    [
        (lambda c: with_scalar(TEXT, c.items("env")[0].get("value"), "2"), '"1"', '"2"'),
        (lambda c: with_scalar(TEXT, c.items("env")[1].get("value"), "it's"), "'it''s'", "'it''s'"),
        (lambda c: with_key(TEXT, c.get("resources", "limits", "nvidia.com/gpu"), "b"), "nvidia.com/gpu:", "b:"),
        (lambda c: with_pair(TEXT, c.get("resources", "limits"), "c", "2"), "gpu: 1}", "gpu: 1, c: 2}"),
        (
            lambda c: with_pair(TEXT, c.get("resources"), "c", "2"),
            "gpu: 1}\n",
            "gpu: 1}\n      c: 2\n",
        ),
        (
            lambda c: with_child(TEXT, c.get("resources"), "requests", "c", "2"),
            "gpu: 1}\n",
            "gpu: 1}\n      requests:\n        c: 2\n",
        ),
        (lambda c: without(TEXT, c.items("env")[0]), '    - name: X\n      value: "1"\n', ""),
        (lambda c: without(TEXT, c.items("env")[1]), "    - {name: Y, value: 'it''s'}\n", ""),
        (lambda c: without(TEXT, c.get("resources")), "    resources:\n      limits: {nvidia.com/gpu: 1}\n", ""),
    ],
)
def test_an_edit_changes_one_thing(edited: Any, old: str, new: str) -> None:
    assert edited(container()) == TEXT.replace(old, new, 1)


def test_what_cannot_be_taken_out_by_lines_is_left() -> None:
    assert without(TEXT, container().get("name")) is None  # type: ignore[arg-type]  # other keys need its dash
    assert without(TEXT, container().get("resources", "limits", "nvidia.com/gpu")) is None  # type: ignore[arg-type]


def test_an_empty_mapping_takes_a_pair() -> None:
    (found,) = documents(TEXT)
    metadata = found.get("metadata")
    assert metadata is not None
    assert with_pair(TEXT, metadata, "name", "x") == TEXT.replace("{}", "{name: x}")


def test_merge_keys_and_anchors_are_followed() -> None:
    (found,) = documents("base: &b {cpu: 1, gpu: 2}\nlimits:\n  <<: *b\n  gpu: 3\n")
    assert plain(found)["limits"] == {"cpu": 1, "gpu": 3}


@pytest.mark.parametrize("text", ["a: [", "a: &a [*a]", "a: b: c", "\x00", "a: !!python/object:x {}\nb: *c"])
def test_what_cannot_be_read_is_an_error_with_a_reason(text: str) -> None:
    with pytest.raises(YamlError, match=r"\S"):
        documents(text)
