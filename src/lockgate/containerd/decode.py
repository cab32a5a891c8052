"""Decodes a table into a type over defaults, as each go-toml does it: what is kept, replaced, ignored, or refused."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import assert_never

from lockgate.containerd.go_values import DurationError, parse_duration, print_duration
from lockgate.containerd.schema import Anything, ListOf, MapOf, Scalar, Struct, Type
from lockgate.containerd.toml_dialect import Dialect
from lockgate.containerd.values import Leaf, Node, Origin, Plain, Table


class WrongTypeError(ValueError):
    """A value that does not fit its key; `panics` where the library crashes instead of saying so."""

    def __init__(self, message: str, origin: Origin, *, panics: bool = False) -> None:
        super().__init__(message)
        self.message, self.origin, self.panics = message, origin, panics


@dataclass(frozen=True, slots=True)
class Decoder:
    """Decoding with one library. `sorts_keys`: 2.x writes plugin sections out, sorted, and reads them again."""

    dialect: Dialect
    sorts_keys: bool = False

    def decode(self, wanted: Type, data: Node, over: Node | None, path: tuple[str, ...]) -> Node:
        """The data as the wanted type, laid over what was there before."""
        match wanted:
            case Scalar() | ListOf():
                return self._value(wanted, data, over, path)
            case Struct():
                return self._struct(wanted, self._table(data, path), over, path)
            case MapOf():
                return self._map(wanted, self._table(data, path), over, path)
            case Anything.ANY:
                return self._anything(data, over)
            case Anything.SECTION:
                return self._table(data, path) if self.dialect.replaces_maps else data
            case _:
                assert_never(wanted)

    def _table(self, data: Node, path: tuple[str, ...]) -> Table:
        if isinstance(data, Table):
            return data
        raise WrongTypeError(f"{'.'.join(path)}: expected a table, found {describe(data.value)}", data.origin)

    def _struct(self, wanted: Struct, data: Table, over: Node | None, path: tuple[str, ...]) -> Table:
        out = Table(dict(over) if isinstance(over, Table) else None, data.origin)
        for name, node in self._fields(wanted, data):
            out[name] = self.decode(wanted.fields[name], node, out.get(name), (*path, name))
        if self.dialect.reads_parent_for_embedded:
            for name in wanted.embedded - data.keys():
                out[name] = self.decode(wanted.fields[name], data, out.get(name), path)
        return out

    def _fields(self, wanted: Struct, data: Table) -> list[tuple[str, Node]]:
        if self.dialect.folds_key_case:
            by_fold = {name.lower(): name for name in wanted.fields}
            items = sorted(data.items()) if self.sorts_keys else data.items()
            pairs = ((key if key in wanted.fields else by_fold.get(key.lower()), node) for key, node in items)
            return [(name, node) for name, node in pairs if name is not None]
        found = ((name, data.get(name, data.get(name.upper()))) for name in wanted.fields)
        return [(name, node) for name, node in found if node is not None]

    def _map(self, wanted: MapOf, data: Table, over: Node | None, path: tuple[str, ...]) -> Table:
        keep = isinstance(over, Table) and not self.dialect.replaces_maps
        out = Table(dict(over) if keep and isinstance(over, Table) else None, data.origin, inline=data.inline)
        for name, node in data.items():
            out[name] = self.decode(wanted.of, node, out.get(name), (*path, name))
        return out

    def _anything(self, data: Node, over: Node | None) -> Node:
        if isinstance(data, Leaf):
            return data.over(over) if isinstance(over, Leaf) else data
        if not isinstance(over, Table) or self.dialect.replaces_maps:
            return data
        merged = Table({**over}, data.origin)
        for name, node in data.items():
            merged[name] = self._anything(node, merged.get(name))
        return merged

    def _value(self, wanted: Scalar | ListOf, data: Node, over: Node | None, path: tuple[str, ...]) -> Leaf:
        if isinstance(data, Table):
            raise WrongTypeError(f"{'.'.join(path)}: expected {wanted_text(wanted)}, found a table", data.origin)
        value = self._fit(wanted, data.value, data.origin, path)
        leaf = data if value is data.value else data.with_value(value)
        return leaf.over(over) if isinstance(over, Leaf) else leaf

    def _fit(self, wanted: Type, value: Plain, origin: Origin, path: tuple[str, ...]) -> Plain:
        match wanted:
            case ListOf(of=item) if isinstance(value, list):
                return [self._fit(item, v, origin, path) for v in value]
            case Struct(fields=fields) if isinstance(value, dict):
                return {k: self._fit(fields[k], v, origin, path) for k, v in value.items() if k in fields}
            case Scalar.DURATION if not isinstance(value, (list, dict)):
                return _duration(value, origin, path)
            case Scalar() if _fits(wanted, value, self.dialect):
                return float(value) if wanted is Scalar.FLOAT and isinstance(value, int) else value
        panics = isinstance(value, (date, datetime, time)) and self.dialect.dates_crash
        message = f"{'.'.join(path)}: expected {wanted_text(wanted)}, found {describe(value)}"
        raise WrongTypeError(message, origin, panics=panics)


def _fits(wanted: Scalar, value: Plain, dialect: Dialect) -> bool:
    match wanted:
        case Scalar.STRING:
            return isinstance(value, str)
        case Scalar.BOOLEAN:
            return isinstance(value, bool)
        case Scalar.INTEGER:
            return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        case Scalar.FLOAT:  # go-toml v1 refuses a whole number for a float
            whole = isinstance(value, int) and not isinstance(value, bool) and dialect.folds_key_case
            return isinstance(value, float) or whole
        case Scalar.DURATION:
            return False
        case _:
            assert_never(wanted)


def _duration(value: Plain, origin: Origin, path: tuple[str, ...]) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    try:
        return print_duration(parse_duration(text))
    except DurationError as error:
        raise WrongTypeError(f"{'.'.join(path)}: {error}", origin) from None


def wanted_text(wanted: Type) -> str:
    """A type as a message names it."""
    match wanted:
        case Scalar():
            return f"a {wanted.value}" if wanted is not Scalar.INTEGER else "an int"
        case ListOf():
            return "an array"
        case _:
            return "a table"


def describe(value: Plain) -> str:
    """A value as a message shows it."""
    match value:
        case bool():
            return f"the boolean {str(value).lower()}"
        case int() | float():
            return f"the number {value}"
        case str():
            return f'the string "{value}"'
        case list():
            return "an array"
        case dict():
            return "a table"
        case _:
            return f"the date {value}"
