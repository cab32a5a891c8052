"""What is printed steers no terminal, whatever the names and texts of a cluster hold."""

import io
import os

import pytest

from lockgate.cli.plain_stream import PlainStream

CLEAR = "\x1b[H\x1b[2J"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("inner", "text", "printed"),
    [
        (Terminal(), "\x1b[31mERROR\x1b[0m pod/x", "\x1b[31mERROR\x1b[0m pod/x"),
        (io.StringIO(), "\x1b[31mERROR\x1b[0m", "\ufffd[31mERROR\ufffd[0m"),
        (Terminal(), f"{CLEAR}GPUS", f"{CLEAR}GPUS"),
        (Terminal(), f"pod/{CLEAR}", "pod/\ufffd[H\ufffd[2J"),
        (Terminal(), "a\x1b]0;title\x07b\x9b1m\tc\n", "a\ufffd]0;title\ufffdb\ufffd1m\tc\n"),
    ],
)
def test_only_our_own_colours_reach_a_terminal(inner: io.StringIO, text: str, printed: str) -> None:
    PlainStream(inner).write(text)
    assert inner.getvalue() == printed


def test_what_would_run_on_for_ever_ends_when_its_reader_goes_away() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as inner:
        stream = PlainStream(inner, endless=True)
        stream.write("12:00:00Z  now")
        with pytest.raises(BrokenPipeError):
            stream.flush()
