"""Whether an edit heals: the problem is gone, no other one has come, and only the meant settings have changed."""

from collections.abc import Sequence
from dataclasses import replace

from lockgate.lint.parts import narrowed
from lockgate.lint.problems import Seen, problems
from lockgate.lint.rule import Fix, LintRule, Path
from lockgate.lint.subject import Subject


def healing(
    subject: Subject, seen: Seen, rules: Sequence[LintRule], writable: frozenset[str] | None = None
) -> Fix | None:
    """The first fix of a problem that the simulation accepts, among those that touch nothing but `writable` files."""
    return next((fix for fix in seen[1].fixes if _may(fix, writable) and heals(subject, seen, fix, rules)), None)


def heals(subject: Subject, seen: Seen, fix: Fix, rules: Sequence[LintRule]) -> bool:
    """Simulate the edit, of a manifest with the one document that it changes."""
    narrow = narrowed(subject, fix.files)
    if narrow is not None:
        subject, fix = narrow[0], replace(fix, files=narrow[1])
    after = subject.edited(fix.files)
    if not fix.files or all(subject.text(path) == text for path, text in fix.files.items()):
        return False
    left = _keys(problems(after, rules))
    before = _keys(problems(subject, rules))
    return _key(seen) not in left and left <= before and not _unintended(subject, after, fix)


def _may(fix: Fix, writable: frozenset[str] | None) -> bool:
    return writable is None or set(fix.files) <= writable


def _key(seen: Seen) -> tuple[str, str]:
    return seen[0].id, seen[1].key


def _keys(found: Sequence[Seen]) -> set[tuple[str, str]]:
    return {_key(seen) for seen in found}


def _unintended(subject: Subject, after: Subject, fix: Fix) -> list[Path]:
    """Effective settings that change although the fix does not mean them."""
    was, now = subject.settings, after.settings
    if now is None:
        # What was refused before may stay refused for another reason; what loaded must go on loading.
        return [()] if was is not None else []
    if was is None:
        return []
    changed = [path for path in was.keys() | now.keys() if was.get(path) != now.get(path)]
    return [path for path in changed if path != ("imports",) and not _is_meant(path, fix)]


def _is_meant(path: Path, fix: Fix) -> bool:
    return any(path[: len(prefix)] == prefix for prefix in fix.intends)
