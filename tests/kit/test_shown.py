"""Foreign text in messages: nothing in it steers the terminal, and no line is endless."""

from lockgate.kit.shown import shown, shown_line


def test_what_would_steer_a_terminal_is_marked() -> None:
    assert shown("a\x1b[2Jb\x9b31m\0") == "a\ufffd[2Jb\ufffd31m\ufffd"


def test_bytes_of_a_name_that_are_no_text_are_marked() -> None:
    assert shown(b"\xff.json".decode("utf-8", "surrogateescape")) == "\ufffd.json"


def test_of_a_long_text_both_ends_are_left() -> None:
    line = shown_line(f"pods.json:\n{'ä' * 5000} is no quantity")
    assert line.startswith("pods.json: ä")
    assert line.endswith(" is no quantity")
    assert len(line) < 1100
