"""A toolkit's drop-in holds an old copy of the CRI section: edits of the original have no effect.

Before containerd 2.0 the file that is read last replaces a plugin's table whole, so toolkits copy the whole CRI section
into their drop-in. The copy is of the day when the toolkit ran; NVIDIA's copies what it finds loaded, its own old copy
included, so that it does not become younger by itself.

Why it matters: somebody changes the registry or the pause image in the original, restarts containerd, and nothing
happens.
Fix: write the new value into the copy too, or take the drop-in away and let the toolkit write it anew.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from lockgate.containerd.releases import PluginMerge
from lockgate.containerd.values import Leaf, Table, dotted, find, leaves
from lockgate.kit.counted import few
from lockgate.lint.edits import pairs_at
from lockgate.lint.lost_settings import SECTIONS, meaning
from lockgate.lint.rule import Fix, Mark, Path, Problem, lint_rule
from lockgate.lint.statements import literal, with_value
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity

_ITS_OWN = {("enable_cdi",), ("containerd", "default_runtime_name")}
_SHOWN = 4
Leaves = Mapping[Path, Leaf]


@lint_rule(codes=("E02",), severity=Severity.WARNING)
def stale_copy(config: Config) -> Iterator[Problem]:
    if config.release.family.plugins is not PluginMerge.REPLACE:
        return
    for section in SECTIONS:
        having = [f for f, document in config.documents.items() if find(document, "plugins", section) is not None]
        if len(having) > 1:
            *_, (original, copy) = pairwise(having)
            yield from _compare(config, section, original, copy)


def _compare(config: Config, section: str, original: str, copy: str) -> Iterator[Problem]:
    theirs, ours = _leaves(config, original, section), _leaves(config, copy, section)
    same = [inside for inside, leaf in theirs.items() if inside in ours and ours[inside].value == leaf.value]
    known = meaning(config.documents[copy], section, config.release)
    old = [i for i, leaf in theirs.items() if i in ours and ours[i].value != leaf.value and i in known and _copied(i)]
    # A copy has all of the original, and most of it as it was; what a person overrides on purpose is neither.
    if old and _is_toolkits(ours) and theirs.keys() <= ours.keys() and len(same) >= len(old):
        yield _problem(config, section, copy, [(i, theirs[i], ours[i]) for i in old], known)


def _leaves(config: Config, file: str, section: str) -> Leaves:
    table = find(config.documents[file], "plugins", section)
    return dict(leaves(table)) if isinstance(table, Table) else {}


def _is_toolkits(ours: Leaves) -> bool:
    return any(inside[:2] == ("containerd", "runtimes") and inside[2].startswith("nvidia") for inside in ours)


def _copied(inside: Path) -> bool:
    """A setting that a toolkit copies, and does not set itself."""
    return inside not in _ITS_OWN and not (inside[:2] == ("containerd", "runtimes") and inside[2].startswith("nvidia"))


def _problem(
    config: Config, section: str, copy: str, old: list[tuple[Path, Leaf, Leaf]], known: Mapping[Path, Path]
) -> Problem:
    names = few((dotted(inside) for inside, _, _ in old), _SHOWN)
    marks = []
    for _, leaf, copied in old[:_SHOWN]:
        marks.append(Mark.at(leaf.origin, "has no effect"))
        marks.append(Mark.at(copied.origin, f"is in effect; the original says {literal(leaf.value)}"))
    return Problem(
        key=f"{copy} {section}",
        summary=(
            f"{config.subject.show(copy)} holds a copy of the CRI section that differs from its original in "
            f"{names}; containerd {config.release} takes the copy"
        ),
        marks=tuple(marks),
        help="write the value into the copy too, or let the toolkit write its drop-in anew",
        fixes=_fixes(config, copy, old, known),
    )


def _fixes(
    config: Config, copy: str, old: list[tuple[Path, Leaf, Leaf]], known: Mapping[Path, Path]
) -> tuple[Fix, ...]:
    """The original's values in the copy; from the end, so that places stay true."""
    text = config.subject.text(copy)
    for _, leaf, copied in sorted(old, key=lambda one: one[2].origin.line, reverse=True):
        pairs = pairs_at(config, copied.origin)
        if len(pairs) != 1:
            return ()
        text = with_value(text, pairs[0], leaf.value)
    said = f"repeat the original's values in {config.subject.show(copy)}"
    return (Fix(said, {copy: text}, tuple(known[inside] for inside, _, _ in old)),)
