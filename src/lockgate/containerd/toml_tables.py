"""Which tables and keys a file may open twice: the bookkeeping of go-toml v1 and of go-toml v2.

Both refuse a key that is set twice; they differ in what else they let pass. go-toml v1 compares table headers as they
are *written*, so `[a.'b']` and `[a."b"]` may both stand; v2 compares the names and also closes tables made by dotted
keys once the section ends. Source: go-toml v1.9.5 parser.go, v2.2.4 internal/tracker/seen.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeAlias

from lockgate.containerd.toml_dialect import Dialect
from lockgate.containerd.toml_text import InlineTable, Key, TomlError
from lockgate.containerd.values import Leaf, Node, Origin, Plain, Table


class ArrayOfTables(list[Table]):
    """What `[[name]]` headers build while a file is being read."""

    origin: Origin


Entry: TypeAlias = Leaf | Table | ArrayOfTables


class Tables(Protocol):
    """Where the next key goes, and whether it may."""

    root: Table

    def open_table(self, key: Key) -> None:
        """A `[header]`."""

    def open_array(self, key: Key) -> None:
        """A `[[header]]`."""

    def put(self, key: Key, value: Plain) -> None:
        """A `key = value`."""


def _node(value: Plain, origin: Origin) -> Node:
    if not isinstance(value, dict):
        return Leaf(value, origin)
    pairs = {name: _node(child, origin) for name, child in value.items()}
    return Table(pairs, origin, inline=isinstance(value, InlineTable))


def _entry(table: Mapping[str, object], name: str) -> Entry | None:
    """What stands under a name; while a file is read that may also be an array of tables."""
    found = table.get(name)
    assert found is None or isinstance(found, (Leaf, Table, ArrayOfTables))
    return found


def _fail(key: Key, message: str) -> TomlError:
    return TomlError(message, key.line, key.column, structural=True)


class _Common:
    def __init__(self, file: str) -> None:
        self.file = file
        self.root = Table(origin=Origin(file, 1))
        self.current = self.root
        self.closed: set[int] = set()  # inline tables, by identity

    def origin(self, key: Key) -> Origin:
        return Origin(self.file, key.line)

    def step(self, table: Table, name: str, key: Key) -> Table:
        entry = _entry(table, name)
        if entry is None:
            table[name] = made = Table(origin=self.origin(key))
            return made
        if isinstance(entry, ArrayOfTables):
            return entry[-1]
        if isinstance(entry, Table) and id(entry) not in self.closed:
            return entry
        raise self.not_a_table(name, key, entry)

    def not_a_table(self, name: str, key: Key, entry: Entry) -> TomlError:
        return _fail(key, f"toml: expected {name} to be a table, not a value")

    def append(self, parent: Table, name: str, key: Key) -> None:
        entry = _entry(parent, name)
        array = entry if isinstance(entry, ArrayOfTables) else ArrayOfTables()
        if array is not entry:
            array.origin = self.origin(key)
            parent[name] = array  # type: ignore[assignment]  # turned into a leaf when the file ends
        self.current = Table(origin=self.origin(key))
        array.append(self.current)

    def insert(self, table: Table, key: Key, value: Plain) -> None:
        node = _node(value, self.origin(key))
        table[key.parts[-1]] = node
        if isinstance(value, InlineTable):
            self._close(node)

    def _close(self, node: Node) -> None:
        if isinstance(node, Table):
            self.closed.add(id(node))
            for child in node.values():
                self._close(child)


class TablesV1(_Common):
    """go-toml v1: headers are compared as written; dotted keys may reach into any table but an inline one."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.headers: set[str] = set()
        self.path: tuple[str, ...] = ()

    def open_table(self, key: Key) -> None:
        if key.raw in self.headers:
            raise _fail(key, "duplicated tables")
        self.headers.add(key.raw)
        table = self.root
        for name in key.parts:
            entry = _entry(table, name)
            if isinstance(entry, Table) and id(entry) in self.closed:
                raise _fail(key, f"could not re-define exist inline table or its sub-table : {'.'.join(key.parts)}")
            table = self.step(table, name, key)
        self.current, self.path = table, key.parts

    def not_a_table(self, name: str, key: Key, entry: Entry) -> TomlError:  # type: ignore[explicit-override]
        kind = "inline table" if isinstance(entry, Table) else "value"
        return _fail(key, f"unknown type for path {'.'.join(key.parts)} ({name}): {kind}")

    def open_array(self, key: Key) -> None:
        table = self.root
        for name in key.parts[:-1]:
            table = self.step(table, name, key)
        entry = _entry(table, key.parts[-1])
        if entry is not None and not isinstance(entry, ArrayOfTables):
            raise _fail(key, f"key {key.raw} is already assigned and not of type table array")
        self.headers = {h for h in self.headers if not h.startswith(key.raw + ".")} | {key.raw}
        self.path = key.parts
        self.append(table, key.parts[-1], key)

    def put(self, key: Key, value: Plain) -> None:
        table = self.current
        for name in key.parts[:-1]:
            table = self.step(table, name, key)
        if id(table) in self.closed:
            raise _fail(key, f"could not add key or sub-table to exist inline table : {'.'.join(self.path)}")
        if key.parts[-1] in table:
            name = ".".join((*self.path, *key.parts))
            raise _fail(key, f"The following key was defined twice: {name}")
        self.insert(table, key, value)


class TablesV2(_Common):
    """go-toml v2: a table is opened once, by a header or by dotted keys of one section."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.explicit: set[int] = {id(self.root)}
        self.dotted: list[int] = []  # tables that dotted keys of this section have made

    def _next_section(self) -> None:
        self.explicit.update(self.dotted)
        self.dotted.clear()

    def open_table(self, key: Key) -> None:
        self._next_section()
        parent = self.root
        for name in key.parts[:-1]:
            parent = self.step(parent, name, key)
        name = key.parts[-1]
        entry = _entry(parent, name)
        if isinstance(entry, ArrayOfTables):
            raise _fail(key, f"toml: key {name} should be a table, not a array table")
        if isinstance(entry, Leaf) or (isinstance(entry, Table) and id(entry) in self.closed):
            raise _fail(key, f"toml: key {name} should be a table, not a value")
        if isinstance(entry, Table) and id(entry) in self.explicit:
            raise _fail(key, f"toml: table {name} already exists")
        self.current = self.step(parent, name, key)
        self.current.origin = self.origin(key)
        self.explicit.add(id(self.current))

    def open_array(self, key: Key) -> None:
        self._next_section()
        parent = self.root
        for name in key.parts[:-1]:
            parent = self.step(parent, name, key)
        entry = _entry(parent, key.parts[-1])
        if entry is not None and not isinstance(entry, ArrayOfTables):
            kind = "table" if isinstance(entry, Table) and id(entry) not in self.closed else "value"
            raise _fail(key, f"toml: key {kind} already exists as a {key.parts[-1]},  but should be an array table")
        self.append(parent, key.parts[-1], key)
        self.explicit.add(id(self.current))

    def put(self, key: Key, value: Plain) -> None:
        table = self.current
        for name in key.parts[:-1]:
            entry = _entry(table, name)
            if isinstance(entry, ArrayOfTables):
                raise _fail(key, f"toml: expected {name} to be a table, not a array table")
            if isinstance(entry, Table) and id(entry) in self.explicit:
                raise _fail(key, f"toml: cannot redefine table {name} that has already been explicitly defined")
            table = self.step(table, name, key)
            if entry is None:
                self.dotted.append(id(table))
        if key.parts[-1] in table:
            raise _fail(key, f"toml: key {key.parts[-1]} is already defined")
        self.insert(table, key, value)


class TablesV24(_Common):
    """go-toml v2.4: tables of headers and tables of dotted keys are two kinds, and neither extends the other's."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.explicit: set[int] = set()
        self.dotted: set[int] = set()

    def open_table(self, key: Key) -> None:
        parent = self._walk(key)
        name = key.parts[-1]
        entry = _entry(parent, name)
        if isinstance(entry, ArrayOfTables):
            raise _fail(key, f"toml: table {name} already exists as an array of tables")
        if isinstance(entry, Leaf) or (isinstance(entry, Table) and id(entry) in self.closed):
            raise _fail(key, f"toml: key {name} should be a table, not a value")
        if isinstance(entry, Table) and id(entry) in self.explicit:
            raise _fail(key, f"toml: table {name} already exists")
        if isinstance(entry, Table) and id(entry) in self.dotted:
            raise _fail(key, f"toml: table {name} already exists as defined by a dotted key")
        self.current = self.step(parent, name, key)
        self.current.origin = self.origin(key)
        self.explicit.add(id(self.current))

    def open_array(self, key: Key) -> None:
        parent = self._walk(key)
        entry = _entry(parent, key.parts[-1])
        if entry is not None and not isinstance(entry, ArrayOfTables):
            kind = "table" if isinstance(entry, Table) and id(entry) not in self.closed else "value"
            raise _fail(key, f"toml: key {key.parts[-1]} already exists as a {kind}, but should be an array table")
        self.append(parent, key.parts[-1], key)

    def _walk(self, key: Key) -> Table:
        table = self.root
        for name in key.parts[:-1]:
            table = self.step(table, name, key)
        return table

    def not_a_table(self, name: str, key: Key, entry: Entry) -> TomlError:  # type: ignore[explicit-override]
        return _fail(key, f"toml: key {name} already exists as a value")

    def put(self, key: Key, value: Plain) -> None:
        table = self.current
        for name in key.parts[:-1]:
            entry = _entry(table, name)
            if entry is not None and id(entry) not in self.dotted:
                raise _fail(key, f"toml: key {name} is already defined")
            table = self.step(table, name, key)
            self.dotted.add(id(table))
        if key.parts[-1] in table:
            raise _fail(key, f"toml: key {key.parts[-1]} is already defined")
        self.insert(table, key, value)


def tables_for(dialect: Dialect, file: str) -> Tables:
    """The bookkeeping of a dialect."""
    if dialect.major == 1:
        return TablesV1(file)
    return TablesV24(file) if dialect.sets_dotted_apart else TablesV2(file)
