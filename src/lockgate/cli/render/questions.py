"""What stays open, grouped as a person reads it: what could change the answer first, each lacking fact once."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from lockgate.cli.render.lines import MOST_QUESTIONS, bounded, few
from lockgate.diagnosis.ways import COLLECT, PROBE
from lockgate.kit.counted import agreeing
from lockgate.model.finding import Diagnosis, NotChecked, Verdict

_MOST_OPEN: Final = 3  # rules that one lacking fact keeps open
_MOST_ALIKE: Final = 3  # facts that lack alike, of one node or pod each
_SECTIONS: Final = {"node-files": "what the node says itself"}  # as a person says it
_SETTLED: Final = (Verdict.HEALTHY, Verdict.BROKEN, Verdict.NOT_GPU)  # all is well, or a cause is named
_HAND_BACK: Final = (
    "Put a log that you fetch into a folder as logs/NAMESPACE/POD/CONTAINER.log beside the rest (cluster/*.json), and "
    "run kubectl gpu why --from FOLDER."
)


class Question(msgspec.Struct, frozen=True):
    """A fact that lacks, the command or permission that brings it, and the rules that it keeps open."""

    reason: str
    how: str
    rules: str


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Questions of one weight; `more` says how many are not shown, `hint` what to do with what is fetched."""

    heading: str
    questions: tuple[Question, ...]
    more: str = ""
    hint: str = ""


class Open(msgspec.Struct, frozen=True):
    """Everything that stays open; `needless` says in a line what the verdict does without."""

    groups: tuple[Group, ...]
    needless: str = ""


def open_questions(diagnosis: Diagnosis) -> Open:
    """What decides stands first, under a heading of its own; where the verdict is settled the rest is a line."""
    deciding = [n for n in diagnosis.not_checked if n.decides]
    beside = [n for n in diagnosis.not_checked if not n.decides]
    settled = diagnosis.verdict in _SETTLED and not deciding
    needless = {n.id: n for n in beside if settled and _is_needless(n)}
    logs = diagnosis.source.kind == "files" and any(n.how.startswith("kubectl logs") for n in deciding)
    groups = (
        _group("Not checked, and could change the answer", deciding, _HAND_BACK if logs else ""),
        _group("Not checked", [n for n in beside if n.id not in needless]),
    )
    return Open(tuple(g for g in groups if g.questions), _needless(list(needless.values())) if needless else "")


def _is_needless(item: NotChecked) -> bool:
    """Whether a section was not looked at for want of a file; a permission that lacks is told in any case."""
    return bool(item.rules) and not item.how.startswith("RBAC")


def _needless(items: Sequence[NotChecked]) -> str:
    names = ", ".join(_SECTIONS.get(n.id, n.id.replace("-", " ")) for n in items)
    probe = next((n.how for n in items if n.how.startswith(PROBE)), COLLECT)
    how = items[0].how if len(items) == 1 else probe
    return f"Not looked at, and not needed for this verdict: {names}; {how} has {agreeing(len(items), 'it', 'them')}"


def _group(heading: str, items: Sequence[NotChecked], hint: str = "") -> Group:
    shown, more = bounded(list(_alike(_by_reason(items))), MOST_QUESTIONS, "questions")
    return Group(heading=heading, questions=tuple(shown), more=more, hint=hint)


def _by_reason(items: Sequence[NotChecked]) -> dict[tuple[str, str], list[str]]:
    """One lacking fact keeps several questions open; it is said once. What is no rule's has its reason alone."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for item in items:
        grouped.setdefault((item.reason, item.how), []).extend(item.rules or filter(_is_rule, (item.id,)))
    return grouped


def _is_rule(id: str) -> bool:
    return "/" in id


def _alike(grouped: dict[tuple[str, str], list[str]]) -> Iterator[Question]:
    """What is open of many nodes or pods for the same rules is said of the first of them."""
    reasons: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (reason, how), rules in grouped.items():
        reasons.setdefault((how, tuple(rules)), []).append(reason)
    for (how, ids), alike in reasons.items():
        said = alike if len(alike) <= _MOST_ALIKE else [f"{alike[0]}, and {len(alike) - 1} more like it"]
        yield from (Question(reason, how, few(ids, _MOST_OPEN)) for reason in said)
