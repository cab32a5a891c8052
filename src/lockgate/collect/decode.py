"""Foreign bytes into typed objects: text encodings, JSON and YAML, with a clear complaint about anything else."""

from typing import Any

import msgspec

from lockgate.collect.bounds import MAX_TEXT, too_large
from lockgate.collect.errors import InputError, one_line
from lockgate.collect.quantities import check_quantities
from lockgate.collect.yaml_text import parse_documents
from lockgate.model.facts import ApiSection
from lockgate.model.objects import Workload

_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class Head(msgspec.Struct):
    """What every object says of itself; `items` of a list stay undecoded."""

    kind: str = ""
    items: list[msgspec.Raw] | None = None


def text_of(name: str, data: bytes) -> str:
    """Bytes as text: UTF-8, or UTF-16 with a byte order mark (what a redirect in PowerShell writes)."""
    encoding = next((e for bom, e in _BOMS if data.startswith(bom)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: is not text (byte {error.start} is no {encoding.upper()[:6]})") from None
    if "\0" in text:
        raise InputError(f"{name}: is not text (NUL at character {text.index(chr(0))})")
    return text


def lenient_text(data: bytes) -> str:
    """Bytes of a log or of a command's output as text; what is no UTF-8 is marked, nothing is refused."""
    return data.decode("utf-8", errors="replace").replace("\0", "\ufffd")


def objects_of(name: str, data: bytes, section: ApiSection) -> list[Any]:
    """The objects of a file that holds a List, a `<Kind>List` or objects of a section's kind."""
    found = []
    for kind, raw in any_objects(name, data):
        if kind not in ("", section.kind):
            raise InputError(f"{name}: holds a {kind} where a {section.kind} is expected")
        found.append(typed(name, raw, section))
    return found


def any_objects(name: str, data: bytes) -> list[tuple[str, bytes]]:
    """The kind and JSON of every object in one file of any kinds: a List, or YAML documents between `---`."""
    return [item for document in _documents(name, data) for item in _items(name, document)]


def typed(name: str, raw: bytes, section: ApiSection) -> Any:
    """One object of JSON as its section's type; a field of the wrong type is named in the complaint."""
    try:
        value: Any = msgspec.json.decode(raw, type=section.type)
    except msgspec.ValidationError:
        value = _without_nulls(name, raw, section)
    except msgspec.DecodeError as error:  # text that is no UTF-8 in a field that we read
        raise InputError(f"{name}: no valid {section.kind}: {one_line(error)}") from None
    if isinstance(value, Workload) and not value.kind:
        value = msgspec.structs.replace(value, kind=section.kind)
    check_quantities(name, value)
    return value


def _without_nulls(name: str, raw: bytes, section: ApiSection) -> Any:
    """Go writes `null` for an empty list or map: read again without those, and complain only of what is left."""
    try:
        return msgspec.convert(_pruned(msgspec.json.decode(raw)), section.type)
    except msgspec.DecodeError as error:
        raise InputError(f"{name}: no valid {section.kind}: {one_line(error)}") from None
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply") from None


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _pruned(v) for k, v in value.items() if v is not None}
    return [_pruned(v) for v in value if v is not None] if isinstance(value, list) else value


def _items(name: str, document: bytes) -> list[tuple[str, bytes]]:
    head = _head(name, document)
    if head.items is None:
        return [] if head.kind.endswith("List") else [(head.kind, document)]
    own_kind = head.kind.removesuffix("List")
    return [(_head(name, bytes(raw)).kind or own_kind, bytes(raw)) for raw in head.items]


def _head(name: str, document: bytes) -> Head:
    try:
        return msgspec.json.decode(document, type=Head)
    except msgspec.ValidationError as error:
        raise InputError(f"{name}: no Kubernetes object or List: {one_line(error)}") from None
    except msgspec.DecodeError as error:
        raise InputError(f"{name}: is not complete JSON: {one_line(error)}") from None
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply") from None


def _documents(name: str, data: bytes) -> list[bytes]:
    """JSON documents: the data itself, or what its YAML says."""
    text = data if data[:1] in (b"{", b"[") else text_of(name, data).strip().encode()
    if not text:
        raise InputError(f"{name}: is empty")
    return [text] if text[:1] in (b"{", b"[") else _from_yaml(name, text)


def _from_yaml(name: str, text: bytes) -> list[bytes]:
    if len(text) > MAX_TEXT:
        raise too_large(name, len(text), MAX_TEXT)
    values = parse_documents(name, text) or [None]
    for value in values:
        if not isinstance(value, dict):
            raise InputError(f"{name}: holds neither JSON nor YAML of a Kubernetes object ({_kind_of(value)})")
    try:
        return [msgspec.json.encode(value) for value in values]
    except (TypeError, RecursionError):
        raise InputError(f"{name}: holds YAML that is no Kubernetes object") from None


def _kind_of(value: Any) -> str:
    return {list: "a list", str: "plain text", type(None): "nothing"}.get(type(value), "a bare value")
