"""Where SXids of NVSwitches are told: the kernel's log, the driver's log that repeats it, events that agents write."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from lockgate.diagnosis.seen import event
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.xid_told import Run, quoted, run_of
from lockgate.model.facts import Log
from lockgate.model.finding import Evidence
from lockgate.model.objects import Event
from lockgate.xid.kernel_log import KernelLog, SxidLine, parse_kernel_log


class NodeSxid(msgspec.Struct, frozen=True):
    """One SXid of a node. `run` is the run of a container that told it, where that is over."""

    line: SxidLine
    evidence: Evidence
    run: Run | None = None


def switch_errors(
    node: str,
    kernel: Iterable[tuple[str, KernelLog]],
    operands: Iterable[tuple[Log, KernelLog]],
    events: Sequence[Event],
    words: NodeWords,
) -> Iterator[NodeSxid]:
    """Every SXid of a node once, as it is told nearest to now: by the kernel itself, then by a run that goes on, then
    by an event since the end of the run before.
    """
    known: set[str] = set()
    for each in _told(node, kernel, operands, events, words):
        if each.line.text not in known:
            known.add(each.line.text)
            yield each


def _told(
    node: str,
    kernel: Iterable[tuple[str, KernelLog]],
    operands: Iterable[tuple[Log, KernelLog]],
    events: Sequence[Event],
    words: NodeWords,
) -> Iterator[NodeSxid]:
    for source, log in kernel:
        for seen in log.sxids:
            yield NodeSxid(seen, Evidence(file=f"{node}:{source}", line=seen.number, verbatim=seen.line))
    logged = [
        NodeSxid(seen, quoted(said, seen.line), run_of(said, words)) for said, log in operands for seen in log.sxids
    ]
    over = [each for each in logged if each.run]
    ended = max((each.run.ended for each in over if each.run and each.run.ended), default=None)
    yield from (each for each in logged if not each.run)
    yield from (each for about in events if _is_since(about, ended) for each in _of_event(about))
    yield from over
    yield from (each for about in events for each in _of_event(about))


def _is_since(about: Event, ended: dt.datetime | None) -> bool:
    return ended is None or about.last_seen is None or about.last_seen > ended


def _of_event(about: Event) -> Iterator[NodeSxid]:
    for seen in parse_kernel_log(about.text).sxids:
        yield NodeSxid(seen, event(about))
