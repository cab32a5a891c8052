"""Rules that are asked about one subject after the other; those that need the same of it are asked together.

A rule is a function of the facts that it is given, and of nothing else. Some of these are common to all subjects. So
where a subject gives a group of rules the very same other facts as the subject before, their outcomes are the same as
well: thousands of nodes whose stack is well are judged once by all the rules that look for what is wrong with it.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from operator import is_not, itemgetter
from typing import Any

from lockgate.diagnosis.rule import Need, Outcome, Rule, Skipped
from lockgate.diagnosis.subject import Facts, arguments, is_common
from lockgate.model.facts import Missing

_Word = tuple[int, Rule, Outcome]  # the rule's place among all, and its outcome
_Ask = Callable[..., Outcome]  # by the names of the facts that differ


class Panel:
    """Some rules; those that have nothing to say about a subject are silent."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self.rules = tuple(rules)
        groups: dict[tuple[Need, ...], list[tuple[int, Rule]]] = {}
        for place, rule in enumerate(self.rules):
            own = tuple(need for need in rule.needs if not is_common(need.name))
            groups.setdefault(own, []).append((place, rule))
        self._groups = [_Group(own, members) for own, members in groups.items()]
        self._names = tuple(dict.fromkeys(name for group in self._groups for name in group.names))
        self._last: tuple[Any, ...] | None = None
        self._by_change: dict[tuple[bool, ...], list[_Group]] = {}

    def told(self, facts: Facts) -> list[tuple[Rule, Outcome]]:
        """The outcomes that are any, in the order of the rules."""
        now = tuple(map(facts.get, self._names))
        for group in self._groups if self._last is None else self._concerned(tuple(map(is_not, now, self._last))):
            group.ask(facts)
        self._last = now
        words = [word for group in self._groups for word in group.words]
        words.sort(key=itemgetter(0))
        return [(rule, outcome) for _, rule, outcome in words]

    def _concerned(self, changes: tuple[bool, ...]) -> "list[_Group]":
        """The groups that need one of the facts that are others than before."""
        if changes not in self._by_change:
            changed = {name for name, is_other in zip(self._names, changes, strict=True) if is_other}
            self._by_change[changes] = [group for group in self._groups if not changed.isdisjoint(group.names)]
        return self._by_change[changes]


class _Group:
    """Rules that need the same of the facts that differ from subject to subject, and what they said last."""

    def __init__(self, own: tuple[Need, ...], members: Sequence[tuple[int, Rule]]) -> None:
        self._own, self._members = own, members
        self.names = tuple(need.name for need in own)
        self.words: list[_Word] = []
        self._asked: list[tuple[int, Rule, _Ask]] | None = None

    def ask(self, facts: Facts) -> None:
        """Ask them about these facts."""
        own = arguments(self._own, facts)
        self.words = self._without(facts) if isinstance(own, Missing) else self._given(own, facts)

    def _without(self, facts: Facts) -> list[_Word]:
        told = ((place, rule, outcome_of(rule, arguments(rule.needs, facts))) for place, rule in self._members)
        return [word for word in told if word[2] is not None]

    def _given(self, own: tuple[Any, ...], facts: Facts) -> list[_Word]:
        if self._asked is None:
            self._asked = [(place, rule, _with_common(rule, facts)) for place, rule in self._members]
        mine = dict(zip(self.names, own, strict=True))
        return [(place, rule, said) for place, rule, ask in self._asked if (said := ask(**mine)) is not None]


def _with_common(rule: Rule, facts: Facts) -> _Ask:
    """A rule that has what is common to all subjects already, and is asked by what differs."""
    common = tuple(need for need in rule.needs if is_common(need.name))
    given = arguments(common, facts)
    if isinstance(given, Missing):
        said = outcome_of(rule, given)
        return lambda **_: said
    return partial(rule.check, **{need.name: value for need, value in zip(common, given, strict=True)})


def outcome_of(rule: Rule, given: tuple[Any, ...] | Missing) -> Outcome:
    """One rule's outcome; Skipped where a fact that it needs is missing, nothing where the cluster has no such kind."""
    if isinstance(given, Missing):
        return None if given.unserved else Skipped(given.reason, given.how)
    return rule.check(*given)
