"""Files are read with their line numbers, as the library of the release reads them."""

import tomllib
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from lockgate.containerd import ConfigError, Effective, Release, resolve
from lockgate.containerd.document import parse_document
from lockgate.containerd.toml_dialect import GO_TOML_1, GO_TOML_2, GO_TOML_2_4, Dialect
from lockgate.containerd.toml_text import TomlError
from lockgate.containerd.values import Leaf, Origin, Table, find, plain_table

SCALARS = st.one_of(
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12),
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3), max_leaves=4)
TABLES = st.recursive(
    st.dictionaries(st.text(max_size=6), VALUES, max_size=4),
    lambda inner: st.dictionaries(st.text(max_size=6), st.one_of(VALUES, inner), max_size=4),
    max_leaves=12,
)


@given(TABLES)
def test_what_a_writer_writes_is_read_back_with_the_same_data(data: dict[str, Any]) -> None:
    text = tomli_w.dumps(data)
    assert plain_table(parse_document(text, "f", GO_TOML_2)) == tomllib.loads(text) == data


@pytest.mark.parametrize("dialect", [GO_TOML_1, GO_TOML_2])
def test_every_value_knows_its_line(dialect: Dialect) -> None:
    text = 'version = 2\n\n# note\n[a."b.c"]\n  x = [\n    1,\n  ]\n  y.z = "w"\n'
    document = parse_document(text, "config.toml", dialect)
    assert find(document, "a", "b.c", "x") == Leaf([1], Origin("config.toml", 5))
    assert find(document, "a", "b.c", "y", "z") == Leaf("w", Origin("config.toml", 8))
    table = find(document, "a", "b.c")
    assert isinstance(table, Table)
    assert table.origin == Origin("config.toml", 4)


TOML_FEATURES = r'''
"quoted key" = 1
'literal key'.dotted = 2
basic = "tab\t quote\" \u00e9 \U0001F600"
literal = 'C:\path'
long = """
first \
   continued
second "quoted" """
raw = \'\'\'
a\b
\'\'\'
numbers = [0x1F, 0o17, 0b11, 1_000, -5, +5, 1.5, 1e3, -0.0, inf, -inf]
dates = [1979-05-27T07:32:00Z, 1979-05-27T07:32:00-07:00, 1979-05-27 07:32:00.5, 1979-05-27 , 07:32:00]
mixed = [1, "a", [true], { x = 1, y.z = "2" }]
inline = { a = 1, b = { c = [] } }
[table]
[table.sub]
k = 1
[[list]]
n = 1
[[list.inner]]
m = 1
[[list]]
n = 2
'''.replace(r"\'\'\'", "'''")


@pytest.mark.parametrize("dialect", [GO_TOML_1, GO_TOML_2])
def test_all_of_toml_is_read(dialect: Dialect) -> None:
    assert plain_table(parse_document(TOML_FEATURES, "f", dialect)) == tomllib.loads(TOML_FEATURES)


@pytest.mark.parametrize(
    "text",
    [
        "a = 1\na = 2",
        "[a]\n[a]",
        "a = {x = 1}\n[a.y]",
        "a = 1\n[a]",
        "a.b = 1\na = 2",
        "a =",
        "= 1",
        "a = 'x",
        'a = "x',
        'a = "\\q"',
        "a = [1 2]",
        "a = [1",
        "a = {x = 1",
        "a = 1 b = 2",
        "[a",
        "a = True",
        "a = 007",
        "a = word",
        "]",
        "words only",
    ],
)
@pytest.mark.parametrize("dialect", [GO_TOML_1, GO_TOML_2_4])
def test_broken_text_is_refused(text: str, dialect: Dialect) -> None:
    with pytest.raises(TomlError):
        parse_document(text, "f", dialect)


def test_a_byte_order_mark_stops_2x_only() -> None:
    assert plain_table(parse_document("\ufeffversion = 2", "f", GO_TOML_1)) == {"version": 2}
    with pytest.raises(TomlError) as refused:
        parse_document("\ufeffversion = 2".encode(), "f", GO_TOML_2)
    assert (refused.value.line, refused.value.column) == (1, 1)
    assert refused.value.message == "toml: invalid character at start of key: U+00EF 'ï'"


def test_1x_takes_two_spellings_of_one_table_for_two_tables() -> None:
    text = "[a.'b']\nx = 1\n[a.\"b\"]\ny = 2\n"
    assert plain_table(parse_document(text, "f", GO_TOML_1)) == {"a": {"b": {"x": 1, "y": 2}}}
    with pytest.raises(TomlError, match="table b already exists"):
        parse_document(text, "f", GO_TOML_2)


def test_text_that_is_not_utf8_is_refused_with_its_line() -> None:
    with pytest.raises(TomlError) as refused:
        parse_document(b"a = 1\nb = '\xff'\n", "f", GO_TOML_2)
    assert refused.value.line == 2


def test_before_v2_4_a_number_that_means_nothing_is_refused_only_where_it_is_used() -> None:
    unused, used = "no_such_key = 1__0\n", "oom_score = 1__0\n"
    root = "/etc/containerd/config.toml"
    assert isinstance(resolve({root: unused}, root, Release.parse("2.2.1")), Effective)
    assert isinstance(resolve({root: used}, root, Release.parse("2.2.1")), ConfigError)
    assert isinstance(resolve({root: unused}, root, Release.parse("2.4.2")), ConfigError)
