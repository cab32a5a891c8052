"""Foreign bytes into typed objects: text encodings, JSON and YAML, with a clear complaint about anything else."""

import codecs
import re
import sys
from collections.abc import Iterator
from typing import Any, Final, Protocol, TypeVar

import msgspec

from lockgate.collect.bounds import MAX_BLOCKS, MAX_HELD, MAX_OBJECT, MAX_TEXT, too_large
from lockgate.collect.cut_lists import TORN, ListMeta, OnCut
from lockgate.collect.errors import InputError, one_line
from lockgate.collect.json_list import PIECE, Cut, Stream, before_the_tear
from lockgate.collect.quantities import check_quantities
from lockgate.collect.yaml_text import parse_documents
from lockgate.model.facts import ApiSection
from lockgate.model.objects import Event, Workload

_OFTEN: Final = 10_000  # objects, after which the memory is looked at
_TRAILING: Final = re.compile(r"trailing characters \(byte (\d+)\)")  # the byte is that behind the first of them
_KINDLESS: Final = (
    f"more than {MAX_HELD >> 20} MiB of its objects have no kind, and neither has the list before them; "
    "kubectl get ... -o json writes one into each"
)


class Head(msgspec.Struct):
    """What every object says of itself; `items` of a list stay undecoded."""

    kind: str = ""
    items: list[msgspec.Raw] | None = None


class ListHead(Head):
    """The same of a document, which may be a list that is cut."""

    metadata: ListMeta | None = None


H = TypeVar("H", bound=Head)


def text_of(name: str, data: bytes) -> str:
    """Bytes as text: UTF-8, or UTF-16 (what a redirect in PowerShell writes), which may have lost its mark."""
    encoding = _utf16(data) or ("utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: is not text (byte {error.start} is no {encoding.upper()[:6]})") from None
    if "\0" in text:
        raise InputError(f"{name}: is not text (NUL at character {text.index(chr(0))})")
    return text


def _utf16(start: bytes) -> str:
    """The encoding of a text of UTF-16: by its mark, or by the NULs beside its first two letters; "" of any other."""
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    nuls = "".join("x" if byte else "0" for byte in start[:4])
    return {"x0x0": "utf-16-le", "0x0x": "utf-16-be"}.get(nuls, "")


def lenient_text(data: bytes) -> str:
    """Bytes of a log or of a command's output as text; what is no UTF-8 is marked, nothing is refused."""
    return data.decode("utf-8", errors="replace").replace("\0", "\ufffd")


class Readable(Stream, Protocol):
    """A stream whose start can be looked at."""

    def peek(self, size: int = ..., /) -> bytes:
        """Some of what comes next, which stays there."""


class _FromUtf16:
    """A stream of UTF-16 as UTF-8."""

    def __init__(self, name: str, inner: Readable, encoding: str) -> None:
        self._name, self._inner = name, inner
        self._decoder = codecs.getincrementaldecoder(encoding)()

    def read(self, size: int, /) -> bytes:
        """About half as many bytes as are asked for."""
        data = self._inner.read(size)
        try:
            return self._decoder.decode(data, final=not data).encode()
        except UnicodeError as error:
            raise InputError(f"{self._name}: is not text ({error})") from None


def objects_of(name: str, stream: Readable, section: ApiSection, on_cut: OnCut | None = None) -> Iterator[Any]:
    """The objects of a file that holds a List, a `<Kind>List` or objects of a section's kind, one after the other."""
    for kind, raw in objects_in(name, stream, on_cut):
        if kind not in ("", section.kind):
            raise InputError(f"{name}: holds a {kind} where a {section.kind} is expected")
        yield existing(name, raw, section)


def objects_in(name: str, stream: Readable, on_cut: OnCut | None = None) -> Iterator[tuple[str, bytes]]:
    """The kind and JSON of every object in a file of any kinds; a List may be of any length."""
    for number, (kind, raw) in enumerate(_in_stream(name, utf8(name, stream), on_cut)):
        if number % _OFTEN == 0 and sys.getallocatedblocks() > MAX_BLOCKS:
            raise InputError(f"{name}: needs more memory than is taken for one input ({number:,} objects were read)")
        yield kind, raw


def utf8(name: str, stream: Readable) -> Stream:
    """A text without its mark as UTF-8, whichever it has of the encodings that `text_of` knows."""
    start = stream.peek(4)
    if encoding := _utf16(start[:4]):
        return _FromUtf16(name, stream, encoding)
    if start.startswith(codecs.BOM_UTF8):
        stream.read(len(codecs.BOM_UTF8))
    return stream


def _in_stream(name: str, stream: Stream, on_cut: OnCut | None) -> Iterator[tuple[str, bytes]]:
    start = stream.read(PIECE).lstrip(b" \t\r\n")
    while len(start) <= PIECE and (more := stream.read(PIECE)):
        start += more
    if len(start) > PIECE and start[:1] in (b"{", b"["):
        cut = Cut(name, start, stream)
        del start
        yield from _pieces(name, cut)
        start = cut.rest
    elif len(start) > PIECE:
        start += stream.read(MAX_TEXT)
    yield from any_objects(name, start, on_cut)


def _pieces(name: str, cut: Cut) -> Iterator[tuple[str, bytes]]:
    """The objects of a long list; one without a kind has the list's, which may stand behind all of them."""
    own_kind = _kind_of_items(_head(name, cut.head))
    waiting, held = list[bytes](), 0
    for raw in (bytes(raw) for items in cut.pieces() for raw in items):
        if kind := _head(name, raw).kind or own_kind:
            yield kind, raw
            continue
        waiting.append(raw)
        held += len(raw)
        if held > MAX_HELD:
            raise InputError(f"{name}: {_KINDLESS}")
    if waiting:
        own_kind = _kind_of_items(_head(name, cut.rest))
    yield from ((own_kind, raw) for raw in waiting)


def any_objects(name: str, data: bytes, on_cut: OnCut | None = None) -> Iterator[tuple[str, bytes]]:
    """The kind and JSON of every object in one file of any kinds: a List, or YAML documents between `---`."""
    text = _text_of_documents(name, data)
    if text[:1] in (b"{", b"["):
        for document in _json_documents(text):
            yield from _items(name, document, on_cut)
        return
    for document in _from_yaml(name, text):
        yield from _items_of_yaml(name, document, on_cut)


def typed(name: str, raw: bytes, section: ApiSection) -> Any:
    """One object of JSON as its section's type; a field of the wrong type is named in the complaint."""
    if len(raw) > MAX_OBJECT:
        raise too_large(f"{name}: a {section.kind}", len(raw), MAX_OBJECT)
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


def existing(name: str, raw: bytes, section: ApiSection) -> Any:
    """One object as a cluster has it: its kind's type, and a name; what is about to be created may have none."""
    value = typed(name, raw, section)
    if not (value.metadata.name or (isinstance(value, Event) and value.about.kind)):
        expected = "expected one as kubectl get -o json|yaml prints it"
        raise InputError(f"{name}: holds an object of kind {section.kind} without a name (metadata.name); {expected}")
    return value


def untyped(name: str, raw: bytes) -> dict[str, Any]:
    """One object of JSON whose kind is not known."""
    if len(raw) > MAX_OBJECT:
        raise too_large(f"{name}: an object", len(raw), MAX_OBJECT)
    try:
        return msgspec.json.decode(raw, type=dict[str, Any])
    except msgspec.DecodeError as error:  # text that is no UTF-8
        raise InputError(f"{name}: no valid object: {one_line(error)}") from None
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply") from None


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


def _items(name: str, document: bytes, on_cut: OnCut | None) -> Iterator[tuple[str, bytes]]:
    """The objects of a document; `on_cut` is told where there are more of them, without it half a list is refused."""
    try:
        # What jq leaves of a list is an array: .items
        head = _list_head(name, b'{"items":%b}' % document if document[:1] == b"[" else document)
    except InputError:
        if not (on_cut and (whole := before_the_tear(document))):
            raise
        head = _list_head(name, whole)
        on_cut(_kind_of_items(head), TORN)
    if head.items is not None:
        own_kind = _kind_of_items(head)
        if on_cut and head.metadata and head.metadata.rest:
            on_cut(own_kind, head.metadata.remaining)
        yield from ((_head(name, bytes(raw)).kind or own_kind, bytes(raw)) for raw in head.items)
    elif not head.kind.endswith("List"):
        yield head.kind, document


def _items_of_yaml(name: str, document: bytes, on_cut: OnCut | None) -> Iterator[tuple[str, bytes]]:
    """The same of YAML, half of which is valid too: kubectl writes the kind of a list behind its objects, so that one
    without a kind is torn, and its last object may be a part.
    """
    head = _list_head(name, document)
    if not (on_cut and head.items and not head.kind):
        yield from _items(name, document, on_cut)
        return
    on_cut("", TORN)
    yield from ((_head(name, bytes(raw)).kind, bytes(raw)) for raw in head.items[:-1])


def _kind_of_items(head: Head) -> str:
    """What a `PodList` says of its items, which have no kind as the API server answers; "" where it is a `List`."""
    return head.kind.removesuffix("List")


def _head(name: str, document: bytes) -> Head:
    return _decoded(name, document, Head)


def _list_head(name: str, document: bytes) -> ListHead:
    return _decoded(name, document, ListHead)


def _decoded(name: str, document: bytes, shape: type[H]) -> H:
    try:
        return msgspec.json.decode(document, type=shape)
    except msgspec.ValidationError as error:
        raise InputError(f"{name}: no Kubernetes object or List: {one_line(error)}") from None
    except msgspec.DecodeError as error:
        raise InputError(f"{name}: is not complete JSON: {one_line(error)}") from None
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply") from None


def _text_of_documents(name: str, data: bytes) -> bytes:
    """JSON, or YAML."""
    text = data if data[:1] in (b"{", b"[") else text_of(name, data).strip().encode()
    if not text:
        raise InputError(f"{name}: is empty")
    return text


def _json_documents(text: bytes) -> list[bytes]:
    """Documents one behind the other, as several commands append them to a file, or jq prints them."""
    found, left = list[bytes](), memoryview(text)
    while True:
        try:
            msgspec.json.decode(left, type=msgspec.Raw)
        except (msgspec.DecodeError, RecursionError) as error:
            if behind := _TRAILING.search(str(error)):
                end = int(behind[1]) - 1
                found.append(bytes(left[:end]))
                left = left[end:]
                continue
        return [*found, bytes(left)]  # one that is broken is complained of where it is read


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
