"""The capacity answer as JSON, CSV and Markdown."""

import csv
import io

import msgspec

from lockgate.capacity.overview import Overview
from lockgate.capacity.table import By
from lockgate.model import names

_FIELDS = (
    "physical", "healthy", "capacity", "allocatable", "requested", "idle", "headroom", "locked", "overheld", "largest",
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


def _grid(seen: Overview) -> list[list[str]]:
    if seen.by is By.NAMESPACE:
        fields = ("pods", "requested", "idle", "waiting_pods", "waiting", "gated")
        body = [[row.key, row.resource, *(_cell(getattr(row, f)) for f in fields)] for row in seen.namespaces]
        return [["namespace", "resource", *fields], *body]
    body = [[row.key, row.resource, str(row.nodes), *(_cell(getattr(row, f)) for f in _FIELDS)] for row in seen.rows]
    return [[seen.by.value, "resource", "nodes", *_FIELDS], *body]


def _cell(number: int | None) -> str:
    return "" if number is None else str(number)
