"""Text comes out of what it was copied into, and long texts in a time that grows with their length alone."""

import time

import pytest

from lockgate.collect.describe_lines import whole_lines
from lockgate.collect.unwrapped import unwrapped

ENDED = "  a:\n    Last State: Terminated\n      Message: boom\nbelow it\n      Exit Code: 1\nConditions:"


@pytest.mark.parametrize(
    "text",
    [
        "\n\n```text\nName: x\n\nStatus: y\n```\n",
        "$ kubectl describe pod x\nName: x\n\nStatus: y\n$ \n",
        "> Name: x\n>\n> Status: y",
    ],
)
def test_what_surrounds_a_text_is_taken_away_at_both_ends_alone(text: str) -> None:
    assert unwrapped(text) == "Name: x\n\nStatus: y\n"


def test_of_what_surrounds_nothing_nothing_is_left() -> None:
    assert unwrapped("```\n\n```\n") == ""


def test_a_hundred_thousand_blank_lines_are_read_in_a_moment() -> None:
    before = time.process_time()
    assert unwrapped("\n" * 100_000 + "x\n") == "x\n"
    assert time.process_time() - before < 3  # it was 6 s and more, by the square of their number


def test_the_message_of_a_state_that_ended_reaches_its_exit_code_in_each_of_many_descriptions() -> None:
    before, lines = time.process_time(), [*whole_lines("\n".join([ENDED] * 40_000))]
    assert lines.count("      Message: boom\nbelow it") == 40_000
    assert time.process_time() - before < 5
