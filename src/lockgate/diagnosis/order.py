"""Root causes first, each followed by what follows from it, as the rules declare with `mutes`; always in one order."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from lockgate.diagnosis.rule import Rule
from lockgate.model.finding import Finding, Severity


def in_order(
    findings: Sequence[Finding], rules: Iterable[Rule], reach: Mapping[str, int] | None = None
) -> tuple[Finding, ...]:
    """Sort by severity, reach (nodes explained, by rule) and id, and put each muted finding under what mutes it."""
    mutes = {r.id: r.mutes for r in rules}
    ranked = sorted(findings, key=lambda f: _rank(f, (reach or {}).get(f.id, 1)))
    parents = {f.id: _parent(f.id, ranked, mutes) for f in ranked}
    ordered: list[Finding] = []
    for finding in sorted(ranked, key=lambda f: bool(parents[f.id])):
        if finding not in ordered:  # left over only where rules mute each other in a circle
            parents[finding.id] = ""
            _place(finding, ranked, parents, ordered)
    return tuple(
        msgspec.structs.replace(f, follows=parents[f.id], severity=_worst(f, ordered, parents)) for f in ordered
    )


def _worst(finding: Finding, among: Sequence[Finding], parents: Mapping[str, str]) -> Severity:
    """A cause is at least as bad as what follows from it."""
    below = [_worst(f, among, parents) for f in among if parents[f.id] == finding.id]
    return max((finding.severity, *below), key=lambda s: s.rank)


def _rank(finding: Finding, reach: int) -> tuple[int, int, str, str]:
    return -finding.severity.rank, -reach, finding.id, finding.about


def _parent(id: str, ranked: Sequence[Finding], mutes: dict[str, tuple[str, ...]]) -> str:
    """The finding that explains this one: the innermost of those that mute it, so that chains stay chains."""
    muting = [f.id for f in ranked if f.id != id and id in mutes.get(f.id, ())]
    innermost = [m for m in muting if not _mutes_another(m, muting, mutes)]
    return next(iter(innermost or muting), "")


def _mutes_another(id: str, among: Sequence[str], mutes: dict[str, tuple[str, ...]]) -> bool:
    return any(other in mutes.get(id, ()) for other in among)


def _place(finding: Finding, ranked: Sequence[Finding], parents: dict[str, str], ordered: list[Finding]) -> None:
    if finding in ordered:
        return
    ordered.append(finding)
    for follower in (f for f in ranked if parents[f.id] == finding.id):
        _place(follower, ranked, parents, ordered)
