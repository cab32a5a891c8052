"""Edits of TOML texts: they say what they should, and touch no other byte."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.containerd.toml_dialect import GO_TOML_2
from lockgate.lint.statements import Kind, literal, statements, with_pair, with_value, without

TEXT = """\
# a person's file
version = 2 # theirs
imports = [
  "a", # one
  "b",
]

[plugins."io.containerd.grpc.v1.cri"] # CRI
  enable_cdi = false

[plugins."io.containerd.grpc.v1.cri".registry]
  config_path = "/etc/containerd/certs.d"
"""
CRI = ("plugins", "io.containerd.grpc.v1.cri")


def test_statements_know_their_path_line_and_value() -> None:
    row = statements(TEXT, GO_TOML_2)
    assert [(s.kind, s.path, s.line) for s in row] == [
        (Kind.PAIR, ("version",), 2),
        (Kind.PAIR, ("imports",), 3),
        (Kind.TABLE, CRI, 8),
        (Kind.PAIR, (*CRI, "enable_cdi"), 9),
        (Kind.TABLE, (*CRI, "registry"), 11),
        (Kind.PAIR, (*CRI, "registry", "config_path"), 12),
    ]
    assert [TEXT[s.value_start : s.value_end] for s in row if s.path == ("version",)] == ["2"]


def test_another_value_keeps_the_comment_behind_it() -> None:
    version = statements(TEXT, GO_TOML_2)[0]
    assert with_value(TEXT, version, 3) == TEXT.replace("version = 2 #", "version = 3 #")


def test_a_statement_goes_with_all_its_lines() -> None:
    imports = statements(TEXT, GO_TOML_2)[1]
    assert without(TEXT, [imports]) == TEXT.replace('imports = [\n  "a", # one\n  "b",\n]\n', "")


@pytest.mark.parametrize(
    ("table", "line"),
    [
        ((), 'root = "/x"\n'),
        (CRI, '  root = "/x"\n'),
        ((*CRI, "registry"), '  root = "/x"\n'),
        ((*CRI, "cni"), '\n[plugins."io.containerd.grpc.v1.cri".cni]\nroot = "/x"\n'),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_key_is_put_behind_the_others_of_its_table(table: tuple[str, ...], line: str, newline: str) -> None:
    text = TEXT.replace("\n", newline)
    new = with_pair(text, statements(text, GO_TOML_2), table, "root", "/x")
    assert new is not None
    assert new.replace(line.replace("\n", newline), "", 1) == text
    expected = tomllib.loads(TEXT)
    place: dict[str, Any] = expected
    for name in table:
        place = place.setdefault(name, {})
    place["root"] = "/x"
    assert tomllib.loads(new) == expected


@pytest.mark.parametrize("text", ["a = { b = 1 }\n", "a.b = 1\n", "[[a]]\nb = 1\n"])
def test_a_table_that_is_not_written_as_a_header_is_left_alone(text: str) -> None:
    assert with_pair(text, statements(text, GO_TOML_2), ("a",), "c", 2) is None


def test_a_file_without_a_line_end_gets_one() -> None:
    text = "[a]\nb = 1"
    assert with_pair(text, statements(text, GO_TOML_2), ("a",), "c", 2) == "[a]\nb = 1\nc = 2\n"


_VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@given(_VALUES)
def test_a_literal_is_one_line_that_means_its_value(value: Any) -> None:
    text = literal(value)
    assert "\n" not in text
    assert tomllib.loads(f"x = {text}") == {"x": value}
