"""One configuration file: TOML text to a table in which every key knows its line."""

from __future__ import annotations

from lockgate.containerd.toml_dialect import Dialect
from lockgate.containerd.toml_tables import ArrayOfTables, Tables, tables_for
from lockgate.containerd.toml_text import Key, Reader, TomlError
from lockgate.containerd.values import Leaf, Table, plain_table

BOM = "\ufeff"


def parse_document(text: str | bytes, file: str, dialect: Dialect) -> Table:
    """The tables of a file; raises TomlError where the dialect's library would refuse it, with what stands before."""
    source = _decode(text)
    if source.startswith(BOM) and dialect.skips_bom:
        source = source[1:]
    reader = Reader(source, dialect)
    tables = tables_for(dialect, file)
    try:
        while reader.skip_blank():
            _expression(reader, tables)
            reader.end_of_line()
    except TomlError as error:
        raise UnfinishedError(error, _finish(tables.root)) from None
    return _finish(tables.root)


class UnfinishedError(TomlError):
    """A file that is no TOML from some line on, and the tables of what stands before that line."""

    def __init__(self, error: TomlError, before: Table) -> None:
        super().__init__(error.message, error.line, error.column, structural=error.structural, panics=error.panics)
        self.before = before


def _decode(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise TomlError("toml: invalid UTF-8 in file", line, 1) from None


def _expression(reader: Reader, tables: Tables) -> None:
    if reader.looking_at("["):
        _header(reader, tables)
        return
    key = reader.key()
    reader.take("=", "toml: expected '=' after key")
    reader.skip_space()
    if reader.dialect.major == 1 and reader.text[reader.at : reader.at + 1] in ("", "\n", "\r", "#"):
        raise _no_value(reader)
    tables.put(key, reader.value())


def _no_value(reader: Reader) -> TomlError:
    """go-toml v1 takes what stands on the next lines for the value, and is at a loss unless the file ends there."""
    error = reader.unhandled_token()
    return error if reader.skip_blank() else reader.error("expecting a value")


def _header(reader: Reader, tables: Tables) -> None:
    closing = "]]" if reader.looking_at("[[") else "]"
    reader.at += len(closing)
    start = reader.at
    reader.skip_space()
    key = reader.key()
    key = key._replace(raw=reader.text[start : reader.at])  # go-toml v1 compares all between the brackets
    if not reader.looking_at(closing):
        raise _unclosed(reader, key)
    reader.at += len(closing)
    if closing == "]]":
        tables.open_array(key)
    else:
        tables.open_table(key)


def _unclosed(reader: Reader, key: Key) -> TomlError:
    message = reader.dialect.unclosed_header
    if reader.dialect.major == 1:
        return TomlError(message, key.line, key.column)
    return reader.error(message)


def _finish(table: Table) -> Table:
    entries: dict[str, Leaf | Table | ArrayOfTables] = {**table}
    for name, node in entries.items():
        if isinstance(node, ArrayOfTables):
            table[name] = Leaf([plain_table(_finish(item)) for item in node], node.origin)
        elif isinstance(node, Table):
            _finish(node)
    return table
