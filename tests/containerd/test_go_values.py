"""Durations are read and printed as Go does."""

import pytest

from lockgate.containerd.go_values import DurationError, parse_duration, print_duration


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("0", "0s"),
        ("10s", "10s"),
        ("90m", "1h30m0s"),
        ("1h", "1h0m0s"),
        ("1.5s", "1.5s"),
        ("100ms", "100ms"),
        ("1500us", "1.5ms"),
        ("-2m3s", "-2m3s"),
        ("7ns", "7ns"),
        (".5h", "30m0s"),
    ],
)
def test_a_duration_comes_back_in_gos_form(text: str, printed: str) -> None:
    assert print_duration(parse_duration(text)) == printed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("x", 'time: invalid duration "x"'),
        ("5", 'time: missing unit in duration "5"'),
        ("5 s", 'time: unknown unit " s" in duration "5 s"'),
        ("1d", 'time: unknown unit "d" in duration "1d"'),
    ],
)
def test_a_bad_duration_is_refused_in_gos_words(text: str, message: str) -> None:
    with pytest.raises(DurationError) as refused:
        parse_duration(text)
    assert str(refused.value) == message
