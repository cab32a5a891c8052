"""Runs the command line in this process as a shell would, and says what is wrong with how it ended."""

import io
import json
import re
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

from lockgate.cli.main import main

SECONDS: Final = 10.0  # of CPU time for one input
MEGABYTES: Final = 400  # resident, at the most, beyond what the process had before: it may be that of a whole suite
_HUNG: Final = 60  # seconds on the clock
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Ran:
    """How a command ended; `error` is the traceback of what it let out, `place` where that was raised."""

    code: int
    out: str
    said: str
    seconds: float
    megabytes: int
    error: str = ""
    place: str = ""


class _TooLong(BaseException):
    """The clock ran out; no `except Exception` takes it."""


def run(arguments: list[str], stdin: Path | None) -> Ran:
    """`main` with streams that are as strict as a terminal's."""
    printed, told = io.BytesIO(), io.BytesIO()
    out = io.TextIOWrapper(printed, "utf-8", newline="\n", write_through=True)
    said = io.TextIOWrapper(told, "utf-8", "backslashreplace", newline="\n", write_through=True)  # as Python's own
    kept, began, code, error, place = (sys.stdin, sys.stdout, sys.stderr), time.process_time(), -1, "", ""
    _forget_peak()
    before = _megabytes("VmRSS")
    with (stdin or Path("/dev/null")).open() as given, _clock():
        sys.stdin, sys.stdout, sys.stderr = given, out, said
        try:
            code = main(arguments)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
        except BaseException as escaped:  # noqa: BLE001 - whatever comes out is what this looks for
            error, place = traceback.format_exc(), _place(escaped)
        finally:
            sys.stdin, sys.stdout, sys.stderr = kept
    texts = printed.getvalue().decode(), told.getvalue().decode()
    return Ran(
        code,
        *texts,
        seconds=time.process_time() - began,
        megabytes=_megabytes("VmHWM") - before,
        error=error,
        place=place,
    )


def wrong_with(ran: Ran, arguments: list[str]) -> str:
    """What a person would call a bug, with its place; "" where the answer, or the complaint, is a clear one."""
    if ran.error:
        return f"traceback: {ran.error.splitlines()[-1][:60]} at {ran.place}"
    if "Traceback" in ran.said or "more memory than there is" in ran.said:
        return f"not caught where it arose: {ran.said.splitlines()[-1][:80]}"
    if ran.seconds > SECONDS:
        return f"slow: {arguments[0]}"
    if ran.megabytes > MEGABYTES:
        return f"memory: {arguments[0]}"
    return _form(ran, arguments)


def _form(ran: Ran, arguments: list[str]) -> str:
    allowed = (0, 1, 2, 3, 4) if "--kubeconfig" in arguments else (0, 2, 3, 4)
    if ran.code not in allowed:
        return f"exit status {ran.code}: {arguments[0]}"
    if ran.code in (1, 2) and ran.out and arguments[0] != "lint":
        return f"a complaint and an answer: {arguments[0]}"
    if ran.code in (1, 2) and (not ran.said.endswith("\n") or ran.said.count("\n") > 1 or len(ran.said) > 2000):
        return f"no clear line: {arguments[0]}"
    if _CONTROL.search(ran.out) or _CONTROL.search(ran.said):
        return f"control characters reach the terminal: {arguments[0]} {_output(arguments)}"
    return _document(ran, arguments)


def _document(ran: Ran, arguments: list[str]) -> str:
    if ran.out and _output(arguments) in ("json", "sarif"):
        try:
            json.loads(ran.out, parse_constant=_no_number)
        except ValueError:
            return f"no JSON: {arguments[0]}"
    if not ran.out and ran.code in (0, 3, 4) and arguments[0] != "lint":
        return "" if ran.said else f"no word: {arguments[0]}"
    return ""


def _no_number(text: str) -> None:
    raise ValueError(text)


def _output(arguments: list[str]) -> str:
    return arguments[arguments.index("-o") + 1] if "-o" in arguments else "text"


def _place(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "/lockgate/" in f.filename]
    last = frames[-1] if frames else None
    return f"{last.filename.rpartition('/lockgate/')[2]}:{last.name}" if last else "nowhere"


@contextmanager
def _clock() -> Iterator[None]:
    def end(_number: int, _frame: FrameType | None) -> None:
        raise _TooLong(f"{_HUNG} s have gone by")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(_HUNG)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from now: proc(5)


def _megabytes(what: str) -> int:
    found = re.search(rf"{what}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) // 1024 if found else 0
