"""Bytes to documents: one case of each idea; the comparison with the reference library is tests/truth/cdi."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.cdi.decode import DocumentError, parse_spec
from lockgate.cdi.nodes import SIZE_LIMIT
from lockgate.cdi.validate import InvalidSpecError, check_spec

GOOD = """
cdiVersion: 0.6.0
kind: nvidia.com/gpu
devices:
- name: "0"
  containerEdits:
    deviceNodes:
    - {path: /dev/nvidia0, major: 0xc3, fileMode: 0666, permissions: rw}
containerEdits:
  env: [NVIDIA_VISIBLE_DEVICES=void, 5, ~]
"""


def test_values_are_converted_as_go_converts_them() -> None:
    spec = parse_spec(GOOD.encode())
    node = spec.devices[0].container_edits.device_nodes[0]
    assert node is not None
    assert (node.major, node.file_mode) == (195, 0o666)
    assert spec.container_edits.env == ("NVIDIA_VISIBLE_DEVICES=void", "5"), "a number is text here, a null is dropped"


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("", "failed to unmarshal CDI Spec: EOF"),
        ("null", "no Spec data"),
        ("text", "line 1: cannot unmarshal !!str `text` into specs.Spec"),
        ("cdiVersion: 0.6.0\nnope: 1\n", "line 2: field nope not found in type specs.Spec"),
        ("devices: [{name: a}]\ndevices: []\n", 'line 2: mapping key "devices" already defined at line 1'),
        ("devices: {a: b}\n", "line 1: cannot unmarshal !!map into []specs.Device"),
        ("containerEdits: {additionalGids: [-1]}", "line 1: cannot unmarshal !!int `-1` into uint32"),
        ("a: [", "did not find expected node content"),
        ("kind: *gpu", "unknown anchor"),
        ("a: &a [*a]", "field a not found"),
        ("containerEdits: &a {<<: *a}", "value contains itself"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(text: str, trouble: str) -> None:
    with pytest.raises(DocumentError) as raised:
        parse_spec(text.encode())
    assert trouble in str(raised.value)


def test_a_bomb_of_aliases_is_refused_before_it_grows() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    text = "containerEdits: {env: &e [" + ", ".join(["x=y"] * 500) + "]}\n"
    text += "devices:\n" + "- {name: a, containerEdits: {env: *e}}\n" * 2000
    for bomb in ("\n".join(lines), text):
        with pytest.raises(DocumentError, match=r"excessive aliasing|not found"):
            parse_spec(bomb.encode())


def test_size_and_depth_have_bounds() -> None:
    with pytest.raises(DocumentError, match="more than the"):
        parse_spec(b" " * (SIZE_LIMIT + 1))
    with pytest.raises(DocumentError, match="nested deeper"):
        parse_spec(b"[" * 200 + b"]" * 200)


@given(st.binary(max_size=300) | st.text(alphabet="{}[]:,&*!|>'\"%@`-?# \nabc0", max_size=300).map(str.encode))
def test_any_bytes_are_a_document_or_an_error_of_ours(content: bytes) -> None:
    with suppress(DocumentError, InvalidSpecError):
        check_spec(parse_spec(content))
