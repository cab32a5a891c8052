"""Contents and comparisons of bundles as text of 100 columns, and as Markdown."""

from collections.abc import Iterator
from typing import Final

from lockgate.cli.comparing import Change, Comparison, File, Object
from lockgate.cli.contents import Area, Contents
from lockgate.cli.render.lines import WIDTH, cut, few, short_name, wrap
from lockgate.kit.counted import counted
from lockgate.kit.quantity import binary_size

_SIGNS: Final = {"added": "+", "removed": "-", "changed": "~"}
_FEW: Final = 16  # fields of an object
_LINES: Final = 40  # of a file


def contents_text(seen: Contents) -> str:
    """The manifest's head, sections, nodes, and what is lacking."""
    return "".join(f"{line}\n" for line in _contents(seen))


def comparison_text(names: tuple[str, str], seen: Comparison) -> str:
    """Findings first, then objects, then files."""
    return "".join(f"{line}\n" for line in _comparison(names, seen))


def comparison_markdown(names: tuple[str, str], seen: Comparison) -> str:
    """The same in one block that an issue shows as a diff."""
    return f"```diff\n{comparison_text(names, seen)}```\n"


def contents_markdown(seen: Contents) -> str:
    """The same as a block."""
    return f"```\n{contents_text(seen)}```\n"


# --- contents


def _contents(seen: Contents) -> Iterator[str]:
    made = " ".join(filter(None, (seen.tool and f"by {seen.tool}", seen.taken_at and f"at {seen.taken_at}")))
    yield from wrap(f"{seen.path}: {made or 'no manifest, so nothing is known of what lacks'}", 0)
    if seen.complete is False:
        yield "It is not complete."
    if seen.narrowed:
        yield from wrap(f"Logs and events are only of {seen.narrowed}, of operands and of nodes.", 0)
    yield ""
    yield f"{'SECTION':<28}{'OBJECTS':>9}{'SIZE':>11}"
    yield from (_area(a) for a in seen.sections if a.count or not (a.missing or a.not_served))
    yield _area(seen.logs)
    for node in seen.nodes:
        yield _area(Area(f"nodes/{node.name}", node.count, node.size))
    yield from _gaps(seen)
    if seen.redacted:
        yield ""
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(seen.redacted.items()))
        yield from wrap(f"Taken out: {counts}", 0)
    if seen.ignored:
        yield ""
        yield from wrap(f"Not read: {few(seen.ignored, 8)}", 0)


def _area(area: Area) -> str:
    return f"{short_name(area.name, 27):<28}{area.count or '':>9}{binary_size(area.size):>11}"


def _lacking(area: Area) -> str:
    """What lacks of an area and how to get it; a permission says it all."""
    if area.how.startswith("RBAC"):
        return f"{f'only of namespace {area.only}; ' if area.only else ''}needed is {area.how}"
    return f"{area.missing}{f'; needed is {area.how}' if area.how else ''}"


def _gaps(seen: Contents) -> Iterator[str]:
    lacking = [a for a in (*seen.sections, *seen.nodes) if a.missing]
    if lacking or seen.left_out or seen.logs_left_out:
        yield ""
        yield "LACKING"
    for area in lacking:
        yield from wrap(f"{area.name}: {_lacking(area)}")
    for text in seen.left_out:
        yield from wrap(text)
    if seen.logs_left_out:
        yield from wrap(f"logs: {seen.logs_left_out} more, beyond the bound; collect -n NAMESPACE puts its own first")


# --- comparison


def _comparison(names: tuple[str, str], seen: Comparison) -> Iterator[str]:
    yield f"--- {names[0]}"
    yield f"+++ {names[1]}"
    if not seen.exit_code:
        yield "Nothing differs."
    if seen.appeared or seen.gone:
        yield from ("", "FINDINGS")
    for sign, found in (("+", seen.appeared), ("-", seen.gone)):
        for finding in found:
            yield from wrap(f"{sign} {finding.severity.value} {finding.id}: {finding.summary}")
    yield from _objects(seen)
    if seen.files:
        yield from ("", "FILES OF NODES")
    for file in seen.files:
        yield from _file(file)
    if seen.unknown:
        yield from ("", "NOT COMPARED")
    for text in seen.unknown:
        yield from wrap(text)


def _objects(seen: Comparison) -> Iterator[str]:
    section = ""
    for each in seen.objects:
        if each.section != section:
            section = each.section
            yield from ("", section.upper())
        yield from _object(each)
    if seen.others:
        yield f"  and {counted(seen.others, 'pod that has', 'pods that have')} nothing to do with GPUs"


def _object(each: Object) -> Iterator[str]:
    yield f"{_SIGNS[each.change]} {each.name}"
    for change in each.fields[:_FEW]:
        yield from wrap(_changed(change), 4)
    more = len(each.fields) - _FEW
    if more > 0:
        yield f"    and {counted(more, 'more field')} (-o json shows all)"


def _changed(change: Change) -> str:
    before = "absent" if change.before is None else _short(change.before)
    after = "absent" if change.after is None else _short(change.after)
    return f"{change.field}: {before} -> {after}"


def _short(value: object) -> str:
    return cut(" ".join(str(value).split()), 160)


def _file(file: File) -> Iterator[str]:
    yield f"{_SIGNS[file.change]} {file.node} {file.path}"
    yield from (f"    {line[: WIDTH - 4]}" for line in file.lines[:_LINES])
    more = len(file.lines) - _LINES
    if more > 0:
        yield f"    and {counted(more, 'more line')}"
