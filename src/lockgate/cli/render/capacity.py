"""The capacity answer as text of 100 columns, JSON, CSV and Markdown."""

import csv
import io
from collections.abc import Iterator

import msgspec

from lockgate.capacity.overview import Overview
from lockgate.capacity.slots import Sharing
from lockgate.capacity.table import By, NamespaceRow, Row
from lockgate.model import names

WIDTH = 100
_BAR = 15
_KEY = 27
_HEADS = ("PHYSICAL", "HEALTHY", "SLOTS", "REQUESTED", "HEADROOM", "LOCKED", "LARGEST")
_FIELDS = (
    "physical", "healthy", "capacity", "allocatable", "requested", "headroom", "locked", "overheld", "largest",
)  # fmt: skip


def as_json(seen: Overview) -> str:
    """One document; names are stable."""
    head = {"apiVersion": names.API_VERSION, "kind": "Capacity"}
    body = head | msgspec.to_builtins(seen)
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode() + "\n"


def as_csv(seen: Overview) -> str:
    """One line a row, with a header; unknown numbers are empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows(_grid(seen))
    return out.getvalue()


def as_markdown(seen: Overview) -> str:
    """The same as a table for an issue or a page."""
    header, *lines = _grid(seen)
    rule = ["---"] * len(header)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (header, rule, *lines))


def as_text(seen: Overview) -> str:
    """A table for each resource, then what is locked, who waits, and what was not known."""
    lines = [*_tables(seen), *_mig(seen), *_locked(seen), *_waiting(seen), *_notes(seen)]
    return "\n".join(lines or ["no GPU nodes: no node has a GPU resource or a label that says so"]) + "\n"


def _grid(seen: Overview) -> list[list[str]]:
    if seen.by is By.NAMESPACE:
        fields = ("pods", "requested", "waiting_pods", "waiting", "gated")
        body = [[row.key, row.resource, *(_cell(getattr(row, f)) for f in fields)] for row in seen.namespaces]
        return [["namespace", "resource", *fields], *body]
    body = [[row.key, row.resource, str(row.nodes), *(_cell(getattr(row, f)) for f in _FIELDS)] for row in seen.rows]
    return [[seen.by.value, "resource", "nodes", *_FIELDS], *body]


def _cell(number: int | None) -> str:
    return "" if number is None else str(number)


# --- text


def _tables(seen: Overview) -> Iterator[str]:
    if seen.by is By.NAMESPACE:
        yield from _namespaces(seen.namespaces)
        return
    for whole in seen.total:
        if yielded := [row for row in seen.rows if row.resource == whole.resource]:
            yield from _table(seen.by, whole, yielded)


def _table(by: By, whole: Row, rows: list[Row]) -> Iterator[str]:
    yield f"{whole.resource or 'no GPU resource advertised'}  {_worth(whole)}".rstrip()
    yield _line(by.value.upper(), _HEADS, "")
    for row in rows:
        yield _line(row.key, _numbers(row), _bar(row))
    if len(rows) > 1:
        yield _line("total", _numbers(whole), _bar(whole))
    yield ""


def _line(key: str, numbers: tuple[str, ...], bar: str) -> str:
    cut = key if len(key) <= _KEY else f"{key[: _KEY - 1]}…"
    cells = "".join(f"{number:>{len(head) + 1}}" for number, head in zip(numbers, _HEADS, strict=True))
    return f"{cut:<{_KEY}}{cells} {bar}".rstrip()


def _numbers(row: Row) -> tuple[str, ...]:
    counts = (row.physical, row.healthy, row.capacity, row.requested, row.headroom, row.locked, row.largest)
    return tuple("?" if count is None else str(count) for count in counts)


def _bar(row: Row) -> str:
    """Slots at a glance: `█` requested, `·` headroom, `x` locked, `!` not healthy."""
    if not row.capacity:
        return ""
    parts = ((min(row.requested, row.allocatable), "█"), (row.headroom, "·"), (row.locked, "x"), (row.unhealthy, "!"))
    widths = _shares([count for count, _ in parts], _BAR)
    return "".join(mark * width for width, (_, mark) in zip(widths, parts, strict=True))


def _shares(counts: list[int], width: int) -> list[int]:
    """Parts of a width in proportion; what is there has a mark at least, the largest part takes up the rounding."""
    whole = sum(counts) or 1
    shares = [max(count * width // whole, 1) if count else 0 for count in counts]
    shares[counts.index(max(counts))] += width - sum(shares)
    return shares


def _worth(row: Row) -> str:
    """What one slot of a resource is worth, in words that promise nothing that is not so."""
    if Sharing.TIME_SLICING in row.sharing:
        return "time-slicing: slots share a GPU's memory, 0 MiB of it is guaranteed"
    guaranteed = "" if row.guaranteed_mib is None else f"{row.guaranteed_mib} MiB guaranteed a slot"
    if Sharing.MPS in row.sharing:
        return f"MPS: {guaranteed or 'an equal part of the memory at most'}"
    return guaranteed


def _namespaces(rows: tuple[NamespaceRow, ...]) -> Iterator[str]:
    if not rows:
        return
    yield f"{'NAMESPACE':<30}{'RESOURCE':<28}{'PODS':>6}{'REQUESTED':>11}{'WAITING PODS':>14}{'FOR':>6}"
    for row in rows:
        yield f"{row.key:<30}{row.resource:<28}{row.pods:>6}{row.requested:>11}{row.waiting_pods:>14}{row.waiting:>6}"
    yield ""


def _mig(seen: Overview) -> Iterator[str]:
    """Partitioned GPUs that lose memory: free slices that no profile can use beside their devices."""
    losing = [gpu for gpu in seen.mig if gpu.lost_gb]
    if losing:
        yield "MIG: memory that no profile can use"
        for gpu in losing:
            devices = ", ".join(f"{count} x {name}" for name, count in gpu.profiles)
            yield f"  {gpu.node} GPU {gpu.gpu}: {gpu.lost_gb} GB beside {devices}"
        yield ""


def _locked(seen: Overview) -> Iterator[str]:
    texts = sorted({text for row in seen.total for text in row.lock_texts})
    if texts:
        yield "Locked: new pods do not come to"
        yield from (f"  {text}" for text in texts)
        yield ""


def _waiting(seen: Overview) -> Iterator[str]:
    for whole in seen.total:
        waits = [one for one in seen.waiting if one.resource == whole.resource]
        if waits:
            asked, gated = sum(one.count for one in waits), sum(one.gated for one in waits)
            largest = max(one.count for one in waits)
            note = f"; {gated} held back by a scheduling gate" if gated else ""
            who = "1 pod asks" if len(waits) == 1 else f"{len(waits)} pods ask"
            size = "" if len(waits) == 1 else f", the largest for {largest}"
            yield f"Waiting: {who} for {asked} {whole.resource}{size}{note}"
    known = {whole.resource for whole in seen.total}
    for resource in sorted({one.resource for one in seen.waiting} - known):
        count = sum(one.resource == resource for one in seen.waiting)
        yield f"Waiting: {count} pods ask for {resource}, which no node advertises"


def _notes(seen: Overview) -> Iterator[str]:
    if seen.unknown:
        yield "Not known"
        yield from (f"  {text}" for text in seen.unknown)
