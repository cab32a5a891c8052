"""Root causes first, each followed by what follows from it, as the rules declare with `mutes`; always in one order."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from lockgate.diagnosis.ground import Ground
from lockgate.diagnosis.merge import cause, joined
from lockgate.diagnosis.rule import Rule
from lockgate.model.finding import Finding, Severity

_Key = tuple[tuple[str, ...], ...]  # the causes from the root down to this one
_Mutes = Mapping[str, tuple[str, ...]]


class Said(msgspec.Struct, frozen=True):
    """A finding, where it was made, and how many nodes it explains there; it explains none that it `spares`.

    What is `passing` is over by itself.
    """

    finding: Finding
    ground: Ground
    reach: int = 1
    spares: tuple[str, ...] = ()
    passing: bool = False


def in_order(said: Sequence[Said], rules: Iterable[Rule]) -> tuple[Finding, ...]:
    """Put each muted finding under what explains it, say the same cause once, and sort by severity, reach and id."""
    rules = tuple(rules)
    mutes = {r.id: r.mutes for r in rules}
    ranked = sorted(said, key=_rank)
    parents = _parents(ranked, mutes)
    fallbacks, asides = {r.id for r in rules if r.fallback}, {r.id for r in rules if r.aside}
    _tell_once(ranked, parents, fallbacks, asides)
    _put_aside(ranked, parents, asides)
    merged = _merged(ranked, parents)
    below: dict[_Key, list[_Key]] = defaultdict(list)
    for key in merged:
        below[key[:-1]].append(key)
    worst = {key: min((_worst(key, merged, below), *_bounds(key, merged)), key=_by_rank) for key in merged}
    for keys in below.values():
        keys.sort(key=lambda k: (-worst[k].rank, *_rank(merged[k])[1:]))
    return tuple(
        msgspec.structs.replace(merged[key].finding, follows=key[-2][0] if len(key) > 1 else "", severity=worst[key])
        for key in _downwards((), below)
    )


def explaining(found: Sequence[Said], beneath: Sequence[Said], rules: Iterable[Rule]) -> list[Said]:
    """What of `beneath` explains something that was found, be it through others of it."""
    mutes = {r.id: r.mutes for r in rules}
    kept: list[Said] = []
    explained, left = list(found), list(beneath)
    while explained:
        asked = [(b, any(_explains(b, e, mutes) for e in explained)) for b in left]
        explained = [b for b, explains in asked if explains]
        left = [b for b, explains in asked if not explains]
        kept += explained
    return kept


def _explains(cause: Said, effect: Said, mutes: _Mutes) -> bool:
    return _is_muted(effect.finding, mutes.get(cause.finding.id, ())) and _may_explain(cause, effect)


def _is_muted(finding: Finding, mutes: tuple[str, ...]) -> bool:
    """Whether a rule's `mutes` name a finding, by its id or by the id with one of its codes."""
    return finding.id in mutes or any(f"{finding.id}:{code}" in mutes for code in finding.codes)


def _may_explain(cause: Said, effect: Said) -> bool:
    """Where they meet, and the cause does not spare the effect.

    What is only a remark (a fault that is over, a person's choice) is why nothing else is wrong, unless it passes.
    """
    severe = effect.finding.severity is not Severity.INFO
    remark = cause.finding.severity is Severity.INFO and severe and not cause.passing
    return not remark and effect.finding.id not in cause.spares and cause.ground.explains(effect.ground)


def _rank(said: Said) -> tuple[int, int, int, str, str]:
    """The worse and the farther reaching first; of operands the one that the others wait for."""
    return -said.finding.severity.rank, -said.reach, said.ground.place, said.finding.id, said.finding.about


class _Places:
    """Findings by rule and node, so that a cluster of thousands of nodes is not compared with itself."""

    def __init__(self, ranked: Sequence[Said]) -> None:
        self._at: dict[tuple[str, str | None], list[int]] = defaultdict(list)
        self._all: dict[str, list[int]] = defaultdict(list)
        for place, said in enumerate(ranked):
            self._all[said.finding.id].append(place)
            for node in (None,) if said.ground.nodes is None else sorted(said.ground.nodes):
                self._at[said.finding.id, node].append(place)

    def near(self, rule: str, ground: Ground) -> list[int]:
        """The findings of a rule that are not made on other nodes, best first."""
        if ground.nodes is None:
            return self._all[rule]
        return sorted({i for node in (None, *ground.nodes) for i in self._at.get((rule, node), ())})


def _parents(ranked: Sequence[Said], mutes: _Mutes) -> list[int | None]:
    """For each finding the one that explains it: the innermost of those that mute it, so that chains stay chains."""
    places = _Places(ranked)
    ids = dict.fromkeys(s.finding.id for s in ranked)
    kinds = {(s.finding.id, s.finding.codes): s.finding for s in ranked}
    muted_by = {
        kind: [other for other in ids if other != finding.id and _is_muted(finding, mutes.get(other, ()))]
        for kind, finding in kinds.items()
    }
    parents: list[int | None] = [
        _innermost(_muting(s, muted_by[s.finding.id, s.finding.codes], places, ranked), ranked, mutes) for s in ranked
    ]
    for place in range(len(ranked)):  # a circle is opened at its best ranked member
        if place in _upwards(place, parents):
            parents[place] = None
    return parents


def _tell_once(ranked: Sequence[Said], parents: list[int | None], fallbacks: set[str], asides: set[str]) -> None:
    """Put what only quotes an object's trouble under the finding that tells of that object already."""
    telling: dict[str, int] = {}
    for place, said in enumerate(ranked):
        if said.finding.id not in fallbacks | asides:
            for evidence in said.finding.evidence:
                telling.setdefault(evidence.object, place)
    for place, said in enumerate(ranked):
        teller = telling.get(said.finding.about)
        if said.finding.id in fallbacks and teller is not None and place not in _upwards(teller, parents):
            parents[place] = teller


def _put_aside(ranked: Sequence[Said], parents: list[int | None], asides: set[str]) -> None:
    """Put what is said aside beneath the first thing that is found about its subject."""
    first: dict[int, int] = {}
    for place, said in enumerate(ranked):
        if said.finding.id not in asides:
            first.setdefault(said.ground.subject, place)
    for place, said in enumerate(ranked):
        if said.finding.id in asides:
            parents[place] = first.get(said.ground.subject)


def _muting(said: Said, rules: Iterable[str], places: _Places, ranked: Sequence[Said]) -> list[int]:
    """Of each rule's findings the best that explains this one: none where all of them leave a node of it open."""
    found = [[i for i in places.near(rule, said.ground) if _may_explain(ranked[i], said)] for rule in rules]
    covered = said.ground.is_covered(ranked[i].ground for each in found for i in each)
    return [each[0] for each in found if each] if covered else []


def _innermost(muting: list[int], ranked: Sequence[Said], mutes: _Mutes) -> int | None:
    found = [ranked[i].finding for i in muting]
    inner = [i for i in muting if not any(_is_muted(f, mutes.get(ranked[i].finding.id, ())) for f in found)]
    return min(inner or muting, default=None)


def _upwards(place: int, parents: Sequence[int | None]) -> list[int]:
    """The findings above one, nearest first; those of a circle once."""
    above: list[int] = []
    at = parents[place]
    while at is not None and at not in above:
        above.append(at)
        at = parents[at]
    return above


def _merged(ranked: Sequence[Said], parents: Sequence[int | None]) -> dict[_Key, Said]:
    """What was said of each cause as one, by its place below the causes that explain it."""
    same: dict[_Key, list[Said]] = defaultdict(list)
    for place, said in enumerate(ranked):
        above = reversed(_upwards(place, parents))
        same[(*(cause(ranked[i].finding) for i in above), cause(said.finding))].append(said)
    return {key: _one(sorted(each, key=lambda s: s.ground.subject)) for key, each in same.items()}


def _one(same: Sequence[Said]) -> Said:
    passing = all(s.passing for s in same)
    return Said(joined([s.finding for s in same]), same[0].ground, _reach(same), passing=passing)


def _reach(same: Iterable[Said]) -> int:
    """How many nodes are explained together: what was said of the same nodes counts once."""
    seen: set[str | None] = set()
    total = 0
    for said in same:
        nodes: frozenset[str | None] = said.ground.nodes or frozenset((None,))
        total = total + said.reach if seen.isdisjoint(nodes) else max(total, said.reach)
        seen |= nodes
    return total


def _worst(key: _Key, merged: Mapping[_Key, Said], below: Mapping[_Key, list[_Key]]) -> Severity:
    """A cause is at least as bad as what follows from it, unless it passes, and that with it."""
    own = merged[key]
    follows = () if own.passing else below.get(key, ())
    return max((own.finding.severity, *(_worst(k, merged, below) for k in follows)), key=_by_rank)


def _bounds(key: _Key, merged: Mapping[_Key, Said]) -> Iterator[Severity]:
    """How bad it can be at most: as bad as what passes, or what that follows from, where it stands on nodes."""
    above = [merged[key[:depth]] for depth in range(1, len(key))]
    if merged[key].ground.nodes is not None:
        for place, said in enumerate(above):
            if said.passing:
                yield max((s.finding.severity for s in above[: place + 1]), key=_by_rank)


def _by_rank(severity: Severity) -> int:
    return severity.rank


def _downwards(key: _Key, below: Mapping[_Key, list[_Key]]) -> Iterator[_Key]:
    for child in below.get(key, ()):
        yield child
        yield from _downwards(child, below)
