"""The answer of `fit` as text of 100 columns and as JSON."""

import textwrap
from collections.abc import Iterator

import msgspec

from lockgate.capacity.blockers import Blocker
from lockgate.capacity.change import Change
from lockgate.capacity.fit import Fit, Verdict
from lockgate.kit.counted import counted, few
from lockgate.kit.quantity import binary_size
from lockgate.model import names
from lockgate.scheduling.requests import CPU, MEMORY

WIDTH = 100
_MOST_CHANGES = 5
_MOST_NODES = 6
_WORDS = {
    Verdict.FITS: "FITS",
    Verdict.AS_FAR_AS_KNOWN: "FITS AS FAR AS IS KNOWN",
    Verdict.UNKNOWN: "UNKNOWN",
    Verdict.DOES_NOT_FIT: "DOES NOT FIT",
}
_NOTHING = "no GPU, cpu or memory (it requests nothing)"


def as_json(answer: Fit) -> str:
    """One document; names are stable."""
    head = {"apiVersion": names.API_VERSION, "kind": "Fit", "verdict": answer.verdict.value}
    body = head | {"fits": answer.fits, "copies": answer.copies} | msgspec.to_builtins(answer)
    return msgspec.json.format(msgspec.json.encode(body), indent=2).decode() + "\n"


def as_text(answer: Fit) -> str:
    """Verdict, where, what blocks, what would help, what was left out."""
    if answer.refused:
        return "\n".join(_refused(answer)) + "\n"
    lines = [*_verdict(answer), *_where(answer), *_blockers(answer), *_changes(answer), *_left_out(answer)]
    return "\n".join(lines) + "\n"


def _refused(answer: Fit) -> Iterator[str]:
    yield "REFUSED  the API server takes no such pod, whatever room there is"
    for text in answer.refused:
        yield from _wrap(text, "    ", "  ")
    if answer.left_out:
        yield from _left_out(answer)


def _verdict(answer: Fit) -> Iterator[str]:
    asked = ", ".join(_amount(name, count) for name, count in sorted(answer.asked.items())) or _NOTHING
    copies = counted(answer.wanted, "copy", "copies") if answer.wanted > 1 else "a pod"
    word = _WORDS[answer.verdict]
    if answer.copies and not answer.fits:
        most = "at most " if answer.at_most else ""
        yield f"{word}  {most}{answer.copies} of {answer.wanted} copies of {asked} fit now"
    elif answer.verdict is Verdict.UNKNOWN:
        told = "fits if pods that were not read leave room" if answer.fits else "fits on nothing that was read"
        yield f"{word}  {copies} of {asked}: {told}"
    else:
        yield f"{word}  {copies} of {asked}"


def _amount(name: str, count: int) -> str:
    if name == CPU:
        return f"{count}m cpu"
    return f"{binary_size(count)} memory" if name == MEMORY else f"{count} {name}"


def _where(answer: Fit) -> Iterator[str]:
    if answer.where:
        places = ", ".join(f"{name} ({count})" if answer.wanted > 1 else name for name, count in answer.where.items())
        yield from _wrap(f"{_head(answer)}: {places}", "  ")
    for text in answer.added:
        yield from _wrap(text, "  ")
    for each in answer.shared:
        yield from _wrap(f"Mind: on {', '.join(each.nodes)} {each.text}", "  ")


def _head(answer: Fit) -> str:
    if answer.fits and answer.verdict is Verdict.UNKNOWN:
        return "Where it may fit"
    return "Where at most" if answer.at_most else "Where"


def _blockers(answer: Fit) -> Iterator[str]:
    if answer.fits:
        return
    yield ""
    others = (
        f", {counted(answer.other_nodes, 'other node has', 'other nodes have')} no GPU" if answer.other_nodes else ""
    )
    yield f"What blocks {'the next copy' if answer.copies else 'it'} on {counted(answer.gpu_nodes, 'GPU node')}{others}"
    if answer.at_most:
        yield "  (by the pods that are known alone: less may be left than is told here)"
    for blocker in answer.blockers:
        yield from _wrap(f"{len(blocker.nodes)}  {blocker.text}: {_nodes(blocker)}", "     ", "  ")
    for text in answer.mind:
        yield from _wrap(f"Mind: {text}", "  ")


def _nodes(blocker: Blocker) -> str:
    alone = len(blocker.alone)
    note = "" if alone == len(blocker.nodes) else f" (nothing else on {alone})" if alone else " (not alone)"
    return f"{few(blocker.nodes, _MOST_NODES)}{note}"


def _changes(answer: Fit) -> Iterator[str]:
    if answer.fits:
        return
    yield ""
    if answer.untried:
        yield "No change was tried: what it would free is not known without the pods of all namespaces"
        return
    if not answer.changes:
        yield "No single change that was tried makes room"
        return
    yield "What would make room, each tried with the model"
    for change in answer.changes[:_MOST_CHANGES]:
        yield from _wrap(f"{_gain(answer, change)}  {change.text}", "        ", "  ")
        yield from (f"        {line}" for line in change.command.splitlines())
    if len(answer.changes) > _MOST_CHANGES:
        yield f"  and {len(answer.changes) - _MOST_CHANGES} more (-o json lists them)"


def _gain(answer: Fit, change: Change) -> str:
    return f"{change.copies}/{answer.wanted}"


def _left_out(answer: Fit) -> Iterator[str]:
    yield ""
    if answer.unread:
        yield "Not read, and decides"
        for text in answer.unread:
            yield from _wrap(text, "    ", "  ")
    if answer.undecided:
        yield "Not decided"
        for text in answer.undecided:
            yield from _wrap(text, "    ", "  ")
    yield from _wrap(f"Left out: {'; '.join(answer.left_out)}", "  ")


def _wrap(text: str, indent: str, first: str = "") -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
