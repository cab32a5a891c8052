"""The capacity answer as text of 100 columns: tables with bars, what slots are worth, who waits, what is not known."""

import textwrap
from collections.abc import Iterator
from typing import Final

from lockgate.capacity.overview import Overview
from lockgate.capacity.repartition import Partitionable
from lockgate.capacity.slots import Sharing
from lockgate.capacity.table import By, NamespaceRow, Row
from lockgate.cli.render.lines import WIDTH, short_name
from lockgate.kit.counted import counted

_BAR = 15
_KEY = 27
_COLUMNS = {
    "PHYSICAL": "physical",
    "HEALTHY": "healthy",
    "SLOTS": "capacity",
    "REQUESTED": "requested",
    "IDLE": "idle",
    "HEADROOM": "headroom",
    "LOCKED": "locked",
    "LARGEST": "largest",
}
_MARKS: Final = {"█": "requested", "░": "requested but idle", "·": "headroom", "x": "locked", "!": "not healthy"}
_MOST_HOLDERS = 20
_WRAPPER: Final = textwrap.TextWrapper(
    width=WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
)


def as_text(seen: Overview, namespace: str = "") -> str:
    """A table for each resource, then what is locked, who waits, what was not known; `namespace` says whose."""
    parts = (_tables, _shared, _mig, _locked, _idle, _waiting, _notes)
    lines = [line for part in parts for line in part(seen)]
    if not (seen.rows or seen.namespaces):
        lines = ["no GPU nodes: no node that is known has a GPU resource or a label that says so", "", *lines]
    head = [f"Pods that wait and idle holders: those of namespace {namespace}. Numbers count everybody's.", ""]
    return "\n".join([*(head if namespace else ()), *lines]).rstrip("\n") + "\n"


def _tables(seen: Overview) -> Iterator[str]:
    if seen.by is By.NAMESPACE:
        yield from _namespaces(seen.namespaces, seen.idle is not None)
        return
    heads = [head for head in _COLUMNS if head != "IDLE" or seen.idle is not None]
    for resource in dict.fromkeys(row.resource for row in seen.rows):
        own = [row for row in seen.rows if row.resource == resource]
        yield from _table(seen.by, _whole(seen, resource), own, heads)
    marks = dict.fromkeys(mark for row in seen.rows for mark in _bar(row, heads))
    if marks:
        yield "  ".join(f"{mark} {_MARKS[mark]}" for mark in _MARKS if mark in marks)
        yield ""


def _whole(seen: Overview, resource: str) -> Row | None:
    """The sum over all nodes, None where not all nodes are known."""
    return next((row for row in seen.total if row.resource == resource), None)


def _table(by: By, whole: Row | None, rows: list[Row], heads: list[str]) -> Iterator[str]:
    worth = {_worth(row) for row in ([whole] if whole else rows)}
    yield f"{rows[0].resource or 'no GPU resource advertised'}  {worth.pop() if len(worth) == 1 else ''}".rstrip()
    yield _line(by.value.upper(), heads, heads, "")
    for row in rows:
        yield _line(row.key, heads, _numbers(row, heads), _bar(row, heads))
    if whole and len(rows) > 1:
        yield _line("total", heads, _numbers(whole, heads), _bar(whole, heads))
    yield ""


def _line(key: str, heads: list[str], numbers: list[str], bar: str) -> str:
    cells = "".join(f"{number:>{len(head) + 1}}" for number, head in zip(numbers, heads, strict=True))
    return f"{short_name(key, _KEY - 1):<{_KEY}}{cells} {bar}".rstrip()


def _numbers(row: Row, heads: list[str]) -> list[str]:
    counts = (getattr(row, _COLUMNS[head]) for head in heads)
    return ["?" if count is None else str(count) for count in counts]


def _bar(row: Row, heads: list[str]) -> str:
    """Slots at a glance, by `_MARKS`; nothing where it is not known which of them are requested."""
    if not row.capacity or row.requested is None or row.headroom is None or row.locked is None:
        return ""
    held = min(row.requested, row.allocatable)
    idle = min(row.idle or 0, held)
    counts = [held - idle, idle, row.headroom, row.locked, row.unhealthy]
    widths = _shares(counts, _BAR - (len(" IDLE") if "IDLE" in heads else 0))
    return "".join(mark * width for mark, width in zip(_MARKS, widths, strict=True))


def _shares(counts: list[int], width: int) -> list[int]:
    """Parts of a width in proportion; what is there has a mark at least, the largest part takes up the rounding."""
    whole = sum(counts) or 1
    shares = [max(count * width // whole, 1) if count else 0 for count in counts]
    shares[counts.index(max(counts))] += width - sum(shares)
    return shares


def _worth(row: Row) -> str:
    """What one slot of a resource is worth, in words that promise nothing that is not so."""
    if Sharing.TIME_SLICING in row.sharing:
        some = "" if len(row.sharing) == 1 else "on some nodes "
        return f"{some}slots share a GPU's memory by time-slicing: 0 MiB of it is guaranteed"
    guaranteed = "" if row.guaranteed_mib is None else f"{row.guaranteed_mib} MiB guaranteed a slot"
    if Sharing.MPS in row.sharing:
        return f"MPS: {guaranteed or 'an equal part of the memory at most'}"
    return guaranteed


def _namespaces(rows: tuple[NamespaceRow, ...], measured: bool) -> Iterator[str]:
    if not rows:
        return
    yield _namespace_line(
        "NAMESPACE", "RESOURCE", "PODS", "REQUESTED", "IDLE" if measured else "", "WAITING PODS", "FOR"
    )
    for row in rows:
        idle = ("?" if row.idle is None else str(row.idle)) if measured else ""
        counts = (str(row.pods), str(row.requested), idle, str(row.waiting_pods), str(row.waiting))
        yield _namespace_line(row.key, row.resource, *counts)
    yield ""


def _namespace_line(key: str, resource: str, pods: str, requested: str, idle: str, waiting: str, asked: str) -> str:
    measured = idle and f"{idle:>6}"
    of = f"{short_name(key, 26):<26} {short_name(resource, 27):<28}"
    return f"{of}{pods:>6}{requested:>11}{measured}{waiting:>14}{asked:>6}"


def _idle(seen: Overview) -> Iterator[str]:
    """Who holds devices that do nothing, and what lies in their memory."""
    if not seen.idle:
        return
    yield "Requested but idle: under 1 % utilisation in one sample of the exporter"
    for holder in seen.idle[:_MOST_HOLDERS]:
        used = "" if holder.memory_used_mib is None else f", {holder.memory_used_mib} MiB of its memory in use"
        yield f"  {holder.node} {holder.device}: {holder.namespace}/{holder.pod}{used}"
    if len(seen.idle) > _MOST_HOLDERS:
        yield f"  and {len(seen.idle) - _MOST_HOLDERS} more (-o json lists them)"
    yield ""


def _shared(seen: Overview) -> Iterator[str]:
    if seen.shared:
        yield "Shared: what one slot is worth"
        for each in seen.shared:
            yield from _WRAPPER.wrap(f"{_listed(each.nodes)}: {each.text}")
        yield ""


def _mig(seen: Overview) -> Iterator[str]:
    """Partitioned GPUs that lose memory: free slices that no profile can use beside their devices."""
    losing = [gpu for gpu in seen.mig if gpu.lost_gb]
    if losing:
        yield "MIG: memory that no profile can use"
        for gpu in losing:
            devices = ", ".join(f"{count} x {name}" for name, count in gpu.profiles)
            which = f"GPU {gpu.gpu}" if gpu.gpu.isdecimal() else f"{gpu.gpu} GPUs"
            yield f"  {gpu.node}, {which}: {gpu.lost_gb} GB beside {devices}"
        yield ""
    for idle in seen.partitionable:
        yield from _options(idle)


def _options(idle: Partitionable) -> Iterator[str]:
    """What idle nodes could become: the base profiles; `-o json` lists all."""
    nodes, gpus = counted(len(idle.nodes), "idle node"), counted(idle.gpus, "GPU")
    yield f"MIG: {nodes} of {idle.product} ({gpus}) could be partitioned anew: {_listed(idle.nodes)}"
    for option in idle.options:
        if all(mark not in profile for profile in option.devices for mark in "+-"):
            devices = ", ".join(f"{number * idle.gpus} x {profile}" for profile, number in option.devices.items())
            lost = f"; {option.lost_gb} GB of each GPU lost" if option.lost_gb else ""
            yield f"  {option.config:<16} {devices}{lost}"
    yield ""


def _listed(nodes: tuple[str, ...]) -> str:
    return f"{nodes[0]}{f' and {len(nodes) - 1} more' if len(nodes) > 1 else ''}"


def _locked(seen: Overview) -> Iterator[str]:
    texts = sorted({text for row in (*seen.total, *seen.rows) for text in row.lock_texts})
    if texts:
        yield "Locked: new pods do not come to"
        yield from (f"  {text}" for text in texts)
        yield ""


def _waiting(seen: Overview) -> Iterator[str]:
    offered = list(dict.fromkeys(row.resource for row in (*seen.total, *seen.rows)))
    for resource in offered:
        waits = [one for one in seen.waiting if one.resource == resource]
        if waits:
            asked, gated = sum(one.count for one in waits), sum(one.gated for one in waits)
            largest = max(one.count for one in waits)
            note = f"; {gated} held back by a scheduling gate" if gated else ""
            who = counted(len(waits), "pod asks", "pods ask")
            size = "" if len(waits) == 1 else f", the largest for {largest}"
            left = _left(_whole(seen, resource), largest)
            yield f"Waiting: {who} for {asked} {resource}{size}{left}{note}"
    which = "no node advertises" if seen.total else "no node that is known advertises"
    for resource in sorted({one.resource for one in seen.waiting} - {*offered}):
        count = sum(one.resource == resource for one in seen.waiting)
        yield f"Waiting: {counted(count, 'pod asks', 'pods ask')} for {resource}, which {which}"
    if seen.waiting:
        yield ""


def _left(whole: Row | None, wanted: int) -> str:
    """That no node has so many left, where that is known."""
    if whole is None or whole.largest is None or wanted <= whole.largest:
        return ""
    return f"; one node has at most {whole.largest} left" if whole.largest else "; no node has one left"


def _notes(seen: Overview) -> Iterator[str]:
    if seen.unknown:
        yield "Not known"
        for text in seen.unknown:
            yield from _WRAPPER.wrap(text)
