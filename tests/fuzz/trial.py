"""One input of the fuzz: a sample, a few steps that spoil it, how it is packed, and what is asked; all from one number.

A trial is the same in every process, and with some of its steps left out it is still a trial: so a failing one is made
smaller.
"""

import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tests.fuzz.packing import OF_MANY, OF_ONE, Pack
from tests.fuzz.questions import Question, question
from tests.fuzz.samples import Kind, Sample, samples
from tests.fuzz.spoil_trees import OF_FILES, OF_TREES, Tree

_LARGEST: Final = 32 << 20  # bytes of a tree that is still changed
_SHARES: Final = {
    Kind.FACTS: 40,
    Kind.OBJECTS: 16,
    Kind.TEXT: 14,
    Kind.NODE: 12,
    Kind.MANIFESTS: 10,
    Kind.WAIVERS: 4,
    Kind.KUBECONFIG: 4,
}


@dataclass(frozen=True)
class Trial:
    """`steps` are seeds of single changes; `kept` are the files that are left of the sample, None for all."""

    number: int
    sample: Sample
    steps: tuple[int, ...]
    pack: Pack
    hostile: bool
    seed: int
    kept: frozenset[str] | None = None

    def make(self, place: Path) -> Question:
        """Write the input into an empty folder, and say what is asked about it."""
        dice = random.Random(self.seed)
        path = self.pack(self._tree(), place, dice, self.hostile)
        return question(self.sample, path, random.Random(self.seed + 1))

    def smaller(self) -> "list[Trial]":
        """The same trial with something left out."""
        fewer = [replace(self, steps=self.steps[:at] + self.steps[at + 1 :]) for at in range(len(self.steps))]
        calmer = [replace(self, hostile=False)] if self.hostile else []
        files = self.kept if self.kept is not None else frozenset(self.sample.files)
        halves = _halves(sorted(files)) if len(files) > 1 else []
        return [*calmer, *fewer, *(replace(self, kept=files - half) for half in halves)]

    def _tree(self) -> Tree:
        files = {p: d for p, d in self.sample.files.items() if self.kept is None or p in self.kept}
        possible = OF_FILES if self.pack in OF_ONE else OF_TREES
        for step in self.steps:
            dice = random.Random(step)
            if files and sum(map(len, files.values())) < _LARGEST:
                files = dice.choice(possible)(files, dice)
        return files


def _halves(files: list[str]) -> list[frozenset[str]]:
    middle = len(files) // 2
    return [frozenset(files[:middle]), frozenset(files[middle:])]


def trial(seed: int, number: int) -> Trial:
    """The trial of a number in the run of a seed."""
    dice = random.Random(f"{seed}/{number}")
    (kind,) = dice.choices(tuple(_SHARES), tuple(_SHARES.values()))
    sample = dice.choice([one for one in samples() if one.kind is kind])
    many = kind in (Kind.FACTS, Kind.NODE)
    return Trial(
        number=number,
        sample=sample,
        steps=tuple(dice.getrandbits(32) for _ in range(dice.choice((0, 1, 1, 1, 2, 3)))),
        pack=dice.choice(OF_MANY if many else OF_ONE),
        hostile=dice.random() < (0.3 if many else 0.05),
        seed=dice.getrandbits(32),
    )
