"""The outcome of `what-if` as text of 100 columns and as JSON."""

import textwrap
from collections.abc import Iterator

import msgspec

from lockgate.capacity.table import Row
from lockgate.capacity.what_if import Fate, WhatIf
from lockgate.cli.render.lines import WIDTH, few, wrap
from lockgate.model import names

_MOST = 20
_FEW = 3  # nodes that are named
_HEADS = ("SLOTS", "REQUESTED", "HEADROOM", "LOCKED", "LARGEST")


def as_json(outcome: WhatIf) -> str:
    """One document; names are stable."""
    body = {"apiVersion": names.API_VERSION, "kind": "WhatIf"} | msgspec.to_builtins(outcome)
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode() + "\n"


def as_text(outcome: WhatIf) -> str:
    """Before and after, then what becomes of the pods."""
    lines = [*_table(outcome), *_fates(outcome), *_shared(outcome)]
    if outcome.undecided:
        lines += ["", "Not decided", *(line for text in outcome.undecided for line in wrap(text))]
    lines += ["", *wrap(f"Left out: {'; '.join(outcome.left_out)}", 0)]
    return "\n".join(lines) + "\n"


def _table(outcome: WhatIf) -> Iterator[str]:
    before = {row.resource: row for row in outcome.before}
    after = {row.resource: row for row in outcome.after}
    yield f"{'RESOURCE':<30}" + "".join(f"{head:>13}" for head in _HEADS)
    for resource in sorted({*before, *after}):
        pairs = zip(_numbers(before.get(resource)), _numbers(after.get(resource)), strict=True)
        yield f"{resource or 'none advertised':<30}" + "".join(f"{_change(*pair):>13}" for pair in pairs)


def _numbers(row: Row | None) -> tuple[int | None, ...]:
    if row is None:
        return (0,) * len(_HEADS)
    return row.capacity, row.requested, row.headroom, row.locked, row.largest


def _change(before: int | None, after: int | None) -> str:
    return str(before) if before == after else f"{before} -> {after}"


def _fates(outcome: WhatIf) -> Iterator[str]:
    yield from _listed("Would move", outcome.moved)
    yield from _listed("Would wait: no node takes them", outcome.waiting)
    yield from _listed("Would move or wait, which is not known", outcome.unknown)
    yield from _listed("Would be lost: no controller makes them again", outcome.lost)
    yield from _listed("Would stay: may not be evicted", outcome.kept)
    yield from _listed("Wait now and could start", outcome.started)


def _shared(outcome: WhatIf) -> Iterator[str]:
    if outcome.shared:
        yield ""
        yield "Would share: what one slot is worth"
    for each in outcome.shared:
        yield from wrap(f"{few(each.nodes, _FEW)}: {each.text}")


def _listed(title: str, fates: tuple[Fate, ...]) -> Iterator[str]:
    if not fates:
        return
    yield ""
    yield f"{title} ({len(fates)})"
    for fate in fates[:_MOST]:
        yield from textwrap.wrap(_fate(fate), WIDTH, initial_indent="  ", subsequent_indent="    ")
    if len(fates) > _MOST:
        yield f"  and {len(fates) - _MOST} more (-o json lists them)"


def _fate(fate: Fate) -> str:
    ends = " -> ".join(end for end in (fate.source, fate.target) if end)
    return f"{fate.namespace}/{fate.pod}  {ends}{f': {fate.reason}' if fate.reason else ''}".rstrip()
