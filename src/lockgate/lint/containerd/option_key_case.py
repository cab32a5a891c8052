"""A handler's options hold one key in two spellings.

`BinaryName` and `binaryName`, `SystemdCgroup` and `systemdCgroup`: one comes from a person's template, the other from
a toolkit that wrote beside it. containerd reads options without regard to case.

Why it matters: which of both wins is not said anywhere. With `binaryName = "/usr/local/bin/runc"` beside the toolkit's
`BinaryName`, pods got plain runc and no GPU (gpu-operator#1374).
Fix: keep the spelling that containerd documents, `BinaryName` and `SystemdCgroup`.
"""

from collections.abc import Iterator
from itertools import groupby

from lockgate.containerd.effective import Handler
from lockgate.containerd.values import Leaf, Table
from lockgate.lint.edits import drop_lines
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.statements import literal
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity


@lint_rule(codes=("E07",), severity=Severity.ERROR)
def option_key_case(config: Config) -> Iterator[Problem]:
    for handler in config.effective.handlers.values():
        options = handler.table.get("options")
        said = [(k, v) for k, v in options.items() if isinstance(v, Leaf)] if isinstance(options, Table) else []
        said = [(key, leaf) for key, leaf in said if not leaf.origin.is_built_in]
        for _, group in groupby(sorted(said, key=_fold), key=_fold):
            spelled = list(group)
            if len(spelled) > 1:
                yield _problem(config, handler, spelled)


def _fold(item: tuple[str, Leaf]) -> str:
    return item[0].lower()


def _problem(config: Config, handler: Handler, spelled: list[tuple[str, Leaf]]) -> Problem:
    spelled = sorted(spelled, key=lambda item: item[0])  # capitals first: the documented spelling
    good, wrong = spelled[0][0], spelled[1:]
    same = len({repr(leaf.value) for _, leaf in spelled}) == 1
    both = " and ".join(f"{key} = {literal(leaf.value)}" for key, leaf in spelled)
    prefix = ("plugins", config.runtime, "containerd", "runtimes", handler.name, "options")
    return Problem(
        key=f"{handler.name} {good}",
        summary=f'runtime "{handler.name}" has {both}: one key in two spellings',
        marks=tuple(
            Mark.at(leaf.origin, "keep this one" if key == good else "the same key", key) for key, leaf in spelled
        ),
        severity=Severity.WARNING if same else None,
        fixes=drop_lines(
            config, [leaf.origin for _, leaf in wrong], f"keep {good} alone", *((*prefix, key) for key, _ in wrong)
        ),
    )
