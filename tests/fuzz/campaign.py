"""Runs many trials, some hundred in one process, and keeps of each failure the smallest input that shows it."""

import multiprocessing
import multiprocessing.connection
import os
import resource
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

from tests.fuzz.trial import Trial, trial
from tests.fuzz.verdict import Ran, run, wrong_with

PIECE: Final = 500
_ADDRESSES: Final = 2 << 30
_SILENT: Final = 180  # seconds without a word from a piece: it hangs where no signal reaches it
_TRIES: Final = 60  # to make one failure smaller


@dataclass(frozen=True)
class Told:
    """What a piece says of one trial."""

    number: int
    what: str
    code: int
    seconds: float
    megabytes: int
    wrong: str = ""


@dataclass
class Figures:
    """What a run came to; failures by what is wrong, with the numbers that showed it."""

    inputs: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    slowest: Told | None = None
    largest: Told | None = None
    failures: dict[str, list[int]] = field(default_factory=dict)

    def add(self, told: Told) -> None:
        """Count one trial."""
        self.inputs += 1
        self.codes[told.code] += 1
        self.kinds[told.what] += 1
        if self.slowest is None or told.seconds > self.slowest.seconds:
            self.slowest = told
        if self.largest is None or told.megabytes > self.largest.megabytes:
            self.largest = told
        if told.wrong:
            self.failures.setdefault(told.wrong, []).append(told.number)


def campaign(seed: int, first: int, inputs: int, out: Path, jobs: int) -> Iterator[Told]:
    """Every trial of a run as it ends; below `out` each piece writes the first that shows a failure of its kind."""
    pieces = [(at, min(PIECE, first + inputs - at)) for at in range(first, first + inputs, PIECE)]
    context = multiprocessing.get_context("spawn")
    running: list[_Piece] = []
    while pieces or running:
        while pieces and len(running) < jobs:
            running.append(_Piece(context.Pipe(duplex=False), seed, *pieces.pop(0), out))
        for piece in multiprocessing.connection.wait([p.ear for p in running], _SILENT) or [p.ear for p in running]:
            one = next(p for p in running if p.ear is piece)
            told = one.next()
            if told is None:
                running.remove(one)
                pieces = one.left + pieces
            else:
                yield told


class _Piece:
    """A process with some of the trials."""

    def __init__(self, pipe: tuple[Connection, Connection], seed: int, first: int, count: int, out: Path) -> None:
        self.ear, mouth = pipe
        self._next, self._end, self._hung = first, first + count, False
        self._process = multiprocessing.get_context("spawn").Process(
            target=_piece, args=(mouth, seed, first, count, out)
        )
        self._process.start()
        mouth.close()

    @property
    def left(self) -> list[tuple[int, int]]:
        """What one that died has not come to."""
        return [(self._next, self._end - self._next)] if self._next < self._end else []

    def next(self) -> Told | None:
        """What it says next; None at its end. One that died or is silent is told as the trial it was at."""
        try:
            if not self.ear.poll(0):
                raise TimeoutError
            told: Told = self.ear.recv()
        except (EOFError, TimeoutError):
            self._process.kill()
            self._process.join()
            if self._next == self._end or self._hung:
                return None
            self._hung, self._next = True, self._next + 1
            return Told(self._next - 1, "", -1, 0, 0, "hangs, or the process died")
        self._next = told.number + 1
        return told


def _piece(mouth: Connection, seed: int, first: int, count: int, out: Path) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    seen: set[str] = set()
    for number in range(first, first + count):
        one = trial(seed, number)
        ran, wrong = judged(one)
        if wrong and wrong not in seen:
            seen.add(wrong)
            keep(smallest(one, wrong), wrong, out)
        mouth.send(Told(number, one.sample.kind.value, ran.code, ran.seconds, ran.megabytes, wrong))
    mouth.close()


def judged(one: Trial) -> tuple[Ran, str]:
    """One trial in a folder of its own, which is the current one."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="lockgate-fuzz-") as place:
        arguments, stdin = one.make(Path(place))
        os.chdir(place)
        try:
            ran = run(arguments, stdin)
        finally:
            os.chdir(before)
    return ran, wrong_with(ran, arguments)


def smallest(one: Trial, wrong: str) -> Trial:
    """The trial with everything left out that the failure does not need."""
    left = _TRIES
    while left > 0:
        for less in one.smaller():
            left -= 1
            if judged(less)[1] == wrong:
                one = less
                break
        else:
            return one
    return one


def keep(one: Trial, wrong: str, out: Path) -> None:
    """Write the input of a failure and what was asked about it."""
    place = out / f"{one.number}"
    place.mkdir(parents=True, exist_ok=True)
    arguments, stdin = one.make(place)
    ran, _ = judged(one)
    asked = " ".join(map(repr, arguments)) + (f" < {stdin}" if stdin else "")
    about = f"{wrong}\nsample: {one.sample.name}\nlockgate {asked}\nexit status {ran.code}\n"
    (place / "about.txt").write_text(f"{about}\n{ran.said[:2000]}\n{ran.error}\n{ran.out[:2000]}", errors="replace")
