"""Bytes to a document as the reference library decodes them: strict fields, Go's conversions, troubles with lines.

Source: `decode.go` of go.yaml.in/yaml/v3 v3.0.5, with known fields only. An item of a list that cannot be decoded is
left out and reported; `null` in a list of values is left out in silence, in a list of pointers it stays as None.
"""

import base64
import binascii
from collections.abc import Callable
from functools import cache
from itertools import combinations
from types import NoneType, UnionType
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec

from lockgate.cdi.nodes import Alias, MalformedError, Mapping, Node, Scalar, Sequence, parse_document
from lockgate.cdi.scalars import TagError, resolve_scalar
from lockgate.cdi.spec import Device, DeviceNode, Edits, Hook, IntelRdt, Mount, NetDevice, Spec
from lockgate.cdi.text import quote

# What Go calls our types, for messages.
_GO_NAMES: Final[dict[Any, str]] = {
    Spec: "specs.Spec",
    Device: "specs.Device",
    Edits: "specs.ContainerEdits",
    DeviceNode: "specs.DeviceNode",
    NetDevice: "specs.LinuxNetDevice",
    Hook: "specs.Hook",
    Mount: "specs.Mount",
    IntelRdt: "specs.IntelRdt",
    str: "string",
    bool: "bool",
}
# Python has one integer; the document has several: (Go's name, lowest, highest).
_INT64 = ("int64", -(2**63), 2**63 - 1)
_INT = ("int", -(2**63), 2**63 - 1)
_UINT32 = ("uint32", 0, 2**32 - 1)
_WIDTHS: Final = {
    "major": _INT64, "minor": _INT64, "timeout": _INT, "uid": _UINT32, "gid": _UINT32, "additional_gids": _UINT32,
    "file_mode": ("fs.FileMode", 0, 2**32 - 1),
}  # fmt: skip


class DocumentError(ValueError):
    """A document that the reference library does not load; the text is as it would print it."""


def parse_spec(content: bytes) -> Spec:
    """Decode a document from JSON or YAML without judging what it says. Raises DocumentError."""
    try:
        root = parse_document(content)
    except MalformedError as error:
        raise DocumentError(f"failed to unmarshal CDI Spec: yaml: {error}") from error
    if root is None:
        raise DocumentError("failed to unmarshal CDI Spec: EOF")
    decoder = _Decoder()
    try:
        spec = decoder.value(root, Spec | None, "")
    except TagError as error:
        raise DocumentError(f"failed to unmarshal CDI Spec: yaml: {error}") from error
    if decoder.troubles:
        listed = "".join(f"\n  {trouble}" for trouble in decoder.troubles)
        raise DocumentError(f"failed to unmarshal CDI Spec: yaml: unmarshal errors:{listed}")
    if not isinstance(spec, Spec):
        raise DocumentError("no Spec data")
    return spec


_NOTHING: Final = object()  # decoding failed or met null where a value was wanted: the zero value stays


@cache
def _fields(struct: Any) -> dict[str, tuple[str, Any]]:
    """Name on the wire -> (attribute, type)."""
    hints = get_type_hints(struct)
    return {field.encode_name: (field.name, hints[field.name]) for field in msgspec.structs.fields(struct)}


class _Decoder:
    def __init__(self) -> None:
        self.troubles: list[str] = []
        self.count = self.alias_count = self.alias_depth = 0
        self.open_aliases: set[int] = set()

    def value(self, node: Node, kind: Any, attribute: str) -> Any:
        """Decode into a type: a Struct, str, bool, int, tuple, dict or one of them or None (Go's pointer)."""
        self._bound()
        if isinstance(node, Alias):
            return self._alias(node, lambda target: self.value(target, kind, attribute))
        options = get_args(kind) if isinstance(kind, UnionType) else (kind,)
        inner = next(option for option in options if option is not NoneType)
        if _is_null(node):
            return None if NoneType in options else _NOTHING
        match node:
            case Scalar():
                return self._scalar(node, inner, attribute)
            case Sequence():
                return self._sequence(node, inner, attribute)
            case Mapping():
                return self._mapping(node, inner, attribute)

    def _bound(self) -> None:
        """Refuse what grows by aliases of aliases, at the same point as Go does."""
        self.count += 1
        self.alias_count += self.alias_depth > 0
        if self.alias_count > 100 and self.count > 1000 and self.alias_count / self.count > _allowed(self.count):
            raise TagError("document contains excessive aliasing")

    def _alias(self, node: Alias, decode: Callable[[Node], Any]) -> Any:
        if id(node) in self.open_aliases:
            raise TagError(f"anchor '{node.name}' value contains itself")
        self.open_aliases.add(id(node))
        self.alias_depth += 1
        try:
            return decode(node.target)
        finally:
            self.alias_depth -= 1
            self.open_aliases.discard(id(node))

    def _scalar(self, node: Scalar, kind: Any, attribute: str) -> Any:
        tag, value = resolve_scalar(node)
        if tag == "!!binary":
            value = _binary(node.value)
        if kind is str:
            return value if tag == "!!binary" else node.value
        if kind is int and isinstance(value, int | float) and not isinstance(value, bool):
            _, lowest, highest = _WIDTHS[attribute]
            if value == value and abs(value) != float("inf") and lowest <= int(value) <= highest:
                return int(value)
        if kind is bool and (isinstance(value, bool) or value in _SWITCHES):
            return value if isinstance(value, bool) else _SWITCHES[str(value)]
        return self._misfit(node, node.tag or tag, _shown(node.value), kind, attribute)

    def _sequence(self, node: Sequence, kind: Any, attribute: str) -> Any:
        if get_origin(kind) is not tuple:
            return self._misfit(node, node.tag or "!!seq", "", kind, attribute)
        items = [self.value(item, get_args(kind)[0], attribute) for item in node.items]
        return tuple(item for item in items if item is not _NOTHING)

    def _mapping(self, node: Mapping, kind: Any, attribute: str) -> Any:
        if self._repeats(node):
            return _NOTHING
        if get_origin(kind) is dict:
            return self._texts(node)
        if kind in _GO_NAMES and kind not in (str, bool):
            return self._struct(node, kind)
        return self._misfit(node, node.tag or "!!map", "", kind, attribute)

    def _repeats(self, node: Mapping) -> bool:
        """Report keys that are written twice."""
        lines: dict[tuple[type, str], list[tuple[int, int]]] = {}
        for index, (key, _) in enumerate(node.pairs):
            lines.setdefault((type(key), _key_text(key)), []).append((index, key.line))
        pairs = [
            (first, second, text)
            for (_, text), places in lines.items()
            for first, second in combinations(places[:_REPEATS_SHOWN], 2)
        ]
        for (_, first), (_, second), text in sorted(pairs):
            self.troubles.append(f"line {second}: mapping key {quote(text)} already defined at line {first}")
        return bool(pairs)

    def _struct(self, node: Mapping, kind: Any) -> Any:
        fields: dict[str, Any] = {}

        def take(key: Node, name: str, value: Node) -> None:
            if name not in _fields(kind):
                self.troubles.append(f"line {key.line}: field {name} not found in type {_GO_NAMES[kind]}")
                return
            attribute, wanted = _fields(kind)[name]
            decoded = self.value(value, wanted, attribute)
            if decoded is not _NOTHING:
                fields[attribute] = decoded

        self._each(node, take, set())
        return kind(**fields)

    def _texts(self, node: Mapping) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def take(key: Node, name: str, value: Node) -> None:
            text = self.value(value, str, "")
            if text is not _NOTHING:
                found[name] = text
            elif _is_null(value):
                found.setdefault(name, "")

        self._each(node, take, set())
        return found

    def _each(self, node: Mapping, take: Callable[[Node, str, Node], None], done: set[str]) -> None:
        """Hand over each key that is not `done`, with its value: the mapping's own, then those merged into it."""
        merge: Node | None = None
        for key, value in node.pairs:
            if _is_merge(key):
                merge = value
                continue
            name = self.value(key, str, "")
            if name is _NOTHING or name in done:
                continue
            done.add(name)
            take(key, name, value)
        if merge is not None:
            self._merge(merge, lambda source: self._each(source, take, done))

    def _merge(self, node: Node, take: Callable[[Mapping], None]) -> None:
        """YAML's `<<`: what the mapping itself says goes before what is merged into it."""
        sources = node.items if isinstance(node, Sequence) else [node]
        for source in sources:
            target = source.target if isinstance(source, Alias) else source
            if not isinstance(target, Mapping):
                raise TagError("map merge requires map or sequence of maps as the value")
            self._bound()
            if isinstance(source, Alias):
                self._alias(source, take)  # type: ignore[arg-type]  # a Mapping, as was checked
            else:
                take(target)

    def _misfit(self, node: Node, tag: str, shown: str, kind: Any, attribute: str) -> Any:
        self.troubles.append(f"line {node.line}: cannot unmarshal {tag}{shown} into {_go_name(kind, attribute)}")
        return _NOTHING


_SWITCHES: Final = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), False),
}


_REPEATS_SHOWN: Final = 20


def _key_text(key: Node) -> str:
    match key:
        case Scalar():
            return key.value
        case Alias():
            return key.name
        case _:
            return ""


def _allowed(count: int) -> float:
    if count <= 400_000:
        return 0.99
    return 0.10 if count >= 4_000_000 else 0.99 - 0.89 * ((count - 400_000) / 3_600_000)


def _is_null(node: Node) -> bool:
    if not isinstance(node, Scalar):
        return False
    return node.tag == "!!null" or (not node.tag and node.plain and resolve_scalar(node)[0] == "!!null")


def _is_merge(node: Node) -> bool:
    return isinstance(node, Scalar) and node.value == "<<" and (node.tag == "!!merge" or (not node.tag and node.plain))


def _binary(text: str) -> str:
    try:
        return base64.b64decode(text.replace("\n", ""), validate=True).decode("utf-8", "surrogateescape")
    except binascii.Error:
        raise TagError("!!binary value contains invalid base64 data") from None


def _shown(value: str) -> str:
    """As Go cuts it: by bytes, which may cut a character."""
    data = value.encode("utf-8", "surrogateescape")
    return f" `{data[:7].decode('utf-8', 'replace')}...`" if len(data) > 10 else f" `{value}`"


def _go_name(kind: Any, attribute: str) -> str:
    if kind is int:
        return _WIDTHS[attribute][0]
    if get_origin(kind) is dict:
        return "map[string]string"
    if get_origin(kind) is tuple:
        inner = get_args(kind)[0]
        pointer = isinstance(inner, UnionType)
        inner = get_args(inner)[0] if pointer else inner
        return f"[]{'*' if pointer else ''}{_go_name(inner, attribute)}"
    return _GO_NAMES[kind]
