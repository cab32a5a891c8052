"""A handler's runtime binary is not on the node.

`options.BinaryName` names a program that is gone: a toolkit was removed and its handler stayed, or its path has
changed.

Why it matters: every pod of that handler fails with `fork/exec ...: no such file or directory`; if it is the default
handler, that is every pod of the node.
Fix: install the program, or remove the handler; Lockgate's own handlers need no program.
"""

from collections.abc import Iterator, Mapping

from lockgate.containerd.effective import Handler
from lockgate.containerd.values import Leaf, Table
from lockgate.lint.asked_paths import binary_places
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity


@lint_rule(codes=("E10",), severity=Severity.ERROR)
def binary_missing(config: Config, presence: Mapping[str, bool]) -> Iterator[Problem]:
    for handler in config.effective.handlers.values():
        places = binary_places(handler.binary_name)
        if places and all(presence.get(place) is False for place in places):
            yield _problem(config, handler)


def _problem(config: Config, handler: Handler) -> Problem:
    options = handler.table.get("options")
    leaf = options.get("BinaryName") if isinstance(options, Table) else None
    origin = leaf.origin if isinstance(leaf, Leaf) else handler.origin
    is_default = config.effective.default_runtime_name == handler.name
    who = "every pod that names no other runtime" if is_default else "every pod of this runtime"
    return Problem(
        key=handler.name,
        summary=f'runtime "{handler.name}" runs {handler.binary_name}, which the node does not have: {who} fails',
        marks=(Mark.at(origin, "there is no such file", handler.binary_name),),
        help="install the program that it names, or remove the handler",
        severity=Severity.BLOCKER if is_default else None,
    )
