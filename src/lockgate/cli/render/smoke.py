"""Results of `smoke` as text of 100 columns, and as Markdown."""

import textwrap
from collections.abc import Iterator, Sequence

from lockgate.cli.render.lines import WIDTH
from lockgate.cli.render.text import Paint, render_text
from lockgate.cli.smoke_plan import Result

_COLOURS = {"passed": "green", "failed": "red", "skipped": "yellow"}


def as_text(results: Sequence[Result], paint: Paint) -> Iterator[str]:
    """A line or more for each node, then the evidence for each that failed."""
    for each in results:
        head = f"{each.result:<8} {each.node}"
        first, *more = textwrap.wrap(
            f"{head}  {_said(each)}", WIDTH, subsequent_indent=" " * 11, break_on_hyphens=False
        )
        yield paint(_COLOURS[each.result], first[:8]) + first[8:]
        yield from more
        yield from (f"{'':<11}{device}" for device in each.devices)
    for each in results:
        if each.diagnosis is not None:
            yield ""
            yield from render_text(each.diagnosis, paint)


def as_markdown(results: Sequence[Result]) -> str:
    """A table, to be pasted into an issue."""
    rows = [f"| {r.node} | {r.result} | {_cell(_said(r))} | {_cell('; '.join(r.devices))} |" for r in results]
    return "\n".join(("| node | result | why | devices |", "| --- | --- | --- | --- |", *rows)) + "\n"


def _said(each: Result) -> str:
    match each.result:
        case "passed":
            return f"both gates in {each.seconds:g} s"
        case "failed":
            return f"{each.gate}: {each.text}"
        case _:
            return each.text


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
