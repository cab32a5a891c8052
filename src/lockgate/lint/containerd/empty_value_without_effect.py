"""A later file sets a top-level value to false, 0 or "", which changes nothing.

Outside of `plugins`, an empty value never overrides what an earlier file says: containerd takes it for not set.

Why it matters: what the drop-in was meant to switch off stays on.
Fix: change the value in the file that sets it.
"""

from collections.abc import Iterator

from lockgate.containerd.values import Leaf, Table, dotted, leaves
from lockgate.lint.edits import drop_lines
from lockgate.lint.rule import Mark, Path, Problem, lint_rule
from lockgate.lint.statements import literal
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity

_MERGED_OTHERWISE = ("plugins", "proxy_plugins", "stream_processors", "timeouts", "version", "imports")


@lint_rule(severity=Severity.WARNING)
def empty_value_without_effect(config: Config) -> Iterator[Problem]:
    said: dict[Path, Leaf] = {}
    for document in config.documents.values():
        for path, leaf in _top_level(document):
            earlier = said.get(path)
            if leaf.value:
                said[path] = leaf
            elif earlier is not None and earlier.origin.file != leaf.origin.file:
                yield _problem(config, path, leaf, earlier)


def _top_level(document: Table) -> Iterator[tuple[Path, Leaf]]:
    for path, leaf in leaves(document):
        if path[0] not in _MERGED_OTHERWISE and not isinstance(leaf.value, list):
            yield path, leaf


def _problem(config: Config, path: Path, leaf: Leaf, earlier: Leaf) -> Problem:
    name = dotted(path)
    return Problem(
        key=f"{leaf.origin.file} {name}",
        summary=(
            f"{name} = {literal(leaf.value)} has no effect: it does not override {literal(earlier.value)} of "
            f"{config.show(earlier.origin)}"
        ),
        marks=(Mark.at(leaf.origin, "an empty value counts as not set"), Mark.at(earlier.origin, "stays in effect")),
        help=f"change {name} in {config.subject.show(earlier.origin.file)}",
        fixes=drop_lines(config, [leaf.origin], "remove the line that has no effect"),
    )
