"""Foreign YAML ends in plain values or one line, and never takes more than its bounds."""

import pytest

from lockgate.kit.plain_yaml import PlainYamlError, TooManyValuesError, parse_documents

MOST = 1000
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]\n" for n in range(8)
)


def test_each_document_that_is_not_empty_is_read_and_moments_stay_text() -> None:
    text = b"a: 2026-01-01T10:00:00Z\n---\n---\n- 1\n- yes\n"
    assert parse_documents(text, MOST) == [{"a": "2026-01-01T10:00:00Z"}, [1, True]]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", r"is neither JSON nor YAML: .* \(line \d\)"),
        (BOMB, "aliases expand to more than"),
        ("a: &a [*a]", "contains itself"),
        ("a: " + "[" * 100_000, "nested|nesting"),
        ("a: !!python/object:os.system x", "constructor"),
        ("a: " + "1" * 10_000, "cannot be built"),
    ],
)
def test_what_is_not_taken_is_said_in_one_line(text: str, says: str) -> None:
    with pytest.raises(PlainYamlError, match=says) as refused:
        parse_documents(text.encode(), MOST)
    assert "\n" not in str(refused.value)


def test_values_are_counted_before_they_are_built() -> None:
    assert parse_documents(b"[" + b"1," * (MOST - 2) + b"1]", MOST) == [[1] * (MOST - 1)]
    with pytest.raises(TooManyValuesError, match="more than 1,000 values"):
        parse_documents(b"[" + b"1," * (MOST + 2) + b"1]", MOST)
    assert parse_documents(b"a: " + b"-,:[{" * MOST, MOST) == [{"a": "-,:[{" * MOST}]
