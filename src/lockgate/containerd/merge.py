"""What a later file does to what the earlier ones said, per family.

Top level, everywhere: an empty value (0, false, "") never overrides. Plugin tables: 1.x takes the later file's table
whole, 2.x merges it key by key, and there an empty value does override. Source: mergeConfig and mergo v1.0.
"""

from __future__ import annotations

from datetime import date, datetime, time

from lockgate.containerd.decode import WrongTypeError
from lockgate.containerd.releases import Family, ListMerge, PluginMerge
from lockgate.containerd.values import Leaf, Node, Plain, Table

_REPLACED_PER_KEY = frozenset({"stream_processors", "proxy_plugins", "timeouts"})


def merge_file(into: Table, file: Table, family: Family) -> None:
    """Merge one decoded file into the result so far, in place."""
    for name, node in file.items():
        if name == "plugins":
            _plugins(_section(into, name, node), node, family)
        elif name in _REPLACED_PER_KEY:
            _replace_entries(_section(into, name, node), node)
        elif isinstance(node, Leaf) and isinstance(node.value, list):
            _list(into, name, node, family)
        else:
            _non_empty(into, name, node)


def _section(into: Table, name: str, node: Node) -> Table:
    section = into.get(name)
    if not isinstance(section, Table):
        section = into[name] = Table(origin=node.origin)
    return section


def _plugins(into: Table, plugins: Node, family: Family) -> None:
    assert isinstance(plugins, Table)  # the decoder made it one
    if family.plugins is PluginMerge.DEEP:
        deep_merge(into, plugins)
    else:
        _replace_entries(into, plugins)


def _replace_entries(into: Table, entries: Node) -> None:
    assert isinstance(entries, Table)  # the decoder made it one
    for name, entry in entries.items():
        earlier = into.get(name)
        into[name] = _remember(entry, earlier) if earlier is not None else entry


def _remember(node: Node, earlier: Node) -> Node:
    """The node, each leaf of it remembering the leaf that stood at the same path."""
    if isinstance(node, Leaf):
        return node.over(earlier) if isinstance(earlier, Leaf) else node
    if not isinstance(earlier, Table):
        return node
    pairs = {name: _remember(child, earlier[name]) if name in earlier else child for name, child in node.items()}
    return Table(pairs, node.origin)


def _list(into: Table, name: str, node: Leaf, family: Family) -> None:
    earlier = into.get(name)
    if not node.value or not isinstance(node.value, list):
        into.setdefault(name, node)
        return
    if not isinstance(earlier, Leaf) or not isinstance(earlier.value, list):
        into[name] = node
        return
    if name == "imports" and not earlier.value and family.lists is ListMerge.UNION:
        into[name] = node  # the first list is taken as it is, duplicates too; only later ones are compared with it
        return
    joined = list(earlier.value)
    for item in node.value:
        if family.lists is ListMerge.APPEND or item not in joined:
            joined.append(item)
    into[name] = node.with_value(joined).over(earlier)


def _non_empty(into: Table, name: str, node: Node) -> None:
    earlier = into.get(name)
    if isinstance(node, Table):
        target = earlier if isinstance(earlier, Table) else Table(origin=node.origin)
        into[name] = target
        for child_name, child in node.items():
            _non_empty(target, child_name, child)
    elif node.value or earlier is None:
        into[name] = node.over(earlier) if isinstance(earlier, Leaf) else node


def deep_merge(into: Table, later: Table) -> None:
    """Merge as mergo does on 2.x: tables merge, everything else is taken from the later file, empty values too."""
    for name, node in later.items():
        earlier = into.get(name)
        if isinstance(node, Table) and isinstance(earlier, Table):
            deep_merge(earlier, node)
        else:
            if isinstance(earlier, Leaf):
                _crash_on_dates(name, earlier, node)
            into[name] = node.over(earlier) if isinstance(node, Leaf) and isinstance(earlier, Leaf) else node


def _crash_on_dates(name: str, earlier: Leaf, node: Node) -> None:
    """mergo compares two dates field by field as if they were of one type, and panics where a field is not there."""
    if _fields(earlier.value) is None or _merges(earlier.value, node):
        return
    message = f"{name}: a value of another kind follows the date of {earlier.origin}"
    raise WrongTypeError(message, node.origin, panics=True)


def _fields(value: Plain) -> int | None:
    """The number of fields mergo walks in Go's type for a date; None where it walks none."""
    match value:
        case datetime():
            return None if value.tzinfo else 2  # LocalDateTime: a LocalDate and a LocalTime
        case date():
            return 3
        case time():
            return 5
        case _:
            return None


def _merges(earlier: Plain, node: Node) -> bool:
    if isinstance(node, Table):
        return False
    later = node.value
    if not isinstance(later, (date, time)):
        return True  # a scalar or an array simply takes the place
    if type(later) is type(earlier) and _fields(later) is not None:
        return True
    fields = _fields(later) or 3  # time.Time has three
    return isinstance(earlier, date) and not isinstance(earlier, datetime) and fields >= 3
