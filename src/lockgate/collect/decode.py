"""Foreign bytes into typed objects: text encodings, JSON and YAML, with a clear complaint about anything else."""

from collections.abc import Iterator
from typing import Any

import msgspec

from lockgate.collect.bounds import MAX_TEXT, too_large
from lockgate.collect.errors import InputError
from lockgate.kit.quantity import parse_quantity
from lockgate.model.facts import ApiSection
from lockgate.model.objects import DaemonSet, Node, Pod, PodSpec, Workload

_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
_MOST_NODES = 5_000_000  # values of a YAML document after its aliases are expanded


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
    """The objects of a file that holds a List, a `<Kind>List` or one object of a section's kind."""
    document = _document(name, data)
    found = []
    for kind, raw in _items(name, document):
        if kind not in ("", section.kind):
            raise InputError(f"{name}: holds a {kind} where a {section.kind} is expected")
        found.append(typed(name, raw, section))
    return found


def any_objects(name: str, data: bytes) -> list[tuple[str, bytes]]:
    """The kind and JSON of every object in one file of any kinds."""
    return [(kind, raw) for kind, raw in _items(name, _document(name, data))]


def typed(name: str, raw: bytes, section: ApiSection) -> Any:
    """One object of JSON as its section's type; a field of the wrong type is named in the complaint."""
    try:
        value: Any = msgspec.json.decode(raw, type=section.type)
    except msgspec.ValidationError:
        value = _without_nulls(name, raw, section)
    except msgspec.DecodeError as error:  # text that is no UTF-8 in a field that we read
        raise InputError(f"{name}: no valid {section.kind}: {_one_line(error)}") from None
    if isinstance(value, Workload) and not value.kind:
        value = msgspec.structs.replace(value, kind=section.kind)
    check_quantities(name, value)
    return value


def check_quantities(name: str, value: Any) -> None:
    """Refuse amounts that the API server would never hand out, so that all later arithmetic can trust them."""
    for text in _quantities(value):
        try:
            parse_quantity(text)
        except ValueError as error:
            raise InputError(f"{name}: {_called(value)}: {error}") from None


def _called(value: Any) -> str:
    """A found object as a person would name it."""
    return f"{type(value).__name__} {value.metadata.name or 'without a name'}"


def _quantities(value: Any) -> Iterator[str | int | float]:
    match value:
        case Node():
            yield from (*value.status.capacity.values(), *value.status.allocatable.values())
        case Pod():
            yield from _of_spec(value.spec)
            for status in (*value.status.init_container_statuses, *value.status.container_statuses):
                yield from (status.allocated_resources or {}).values()
                yield from status.resources.requests.values() if status.resources else ()
        case Workload() | DaemonSet():
            yield from _of_spec(value.spec.template.spec)
        case _:
            return


def _of_spec(spec: PodSpec) -> Iterator[str | int | float]:
    for container in (*spec.init_containers, *spec.containers):
        yield from (*container.resources.requests.values(), *container.resources.limits.values())
    yield from spec.overhead.values()
    yield from (*spec.resources.requests.values(), *spec.resources.limits.values()) if spec.resources else ()


def _without_nulls(name: str, raw: bytes, section: ApiSection) -> Any:
    """Go writes `null` for an empty list or map: read again without those, and complain only of what is left."""
    try:
        return msgspec.convert(_pruned(msgspec.json.decode(raw)), section.type)
    except msgspec.DecodeError as error:
        raise InputError(f"{name}: no valid {section.kind}: {_one_line(error)}") from None
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
        raise InputError(f"{name}: no Kubernetes object or List: {_one_line(error)}") from None
    except msgspec.DecodeError as error:
        raise InputError(f"{name}: is not complete JSON: {_one_line(error)}") from None
    except RecursionError:
        raise InputError(f"{name}: is nested too deeply") from None


def _document(name: str, data: bytes) -> bytes:
    """A JSON document: the data itself, or what its YAML says."""
    text = data if data[:1] in (b"{", b"[") else text_of(name, data).strip().encode()
    if not text:
        raise InputError(f"{name}: is empty")
    return text if text[:1] in (b"{", b"[") else _from_yaml(name, text)


def _from_yaml(name: str, text: bytes) -> bytes:
    if len(text) > MAX_TEXT:
        raise too_large(name, len(text), MAX_TEXT)
    value = parse_yaml(name, text)
    if not isinstance(value, dict):
        raise InputError(f"{name}: holds neither JSON nor YAML of a Kubernetes object ({_kind_of(value)})")
    try:
        return msgspec.json.encode(value)
    except (TypeError, RecursionError):
        raise InputError(f"{name}: holds YAML that is no Kubernetes object") from None


def parse_yaml(name: str, text: bytes) -> Any:
    """Plain YAML; aliases are fine until what they expand to is too much."""
    import yaml  # late: a tenth of a second that JSON does not need

    try:
        value = yaml.load(text, Loader=_loader())  # a safe loader, without dates
    except yaml.YAMLError as error:
        raise InputError(f"{name}: is neither JSON nor YAML: {_yaml_problem(error)}") from None
    except (RecursionError, ValueError):
        raise InputError(f"{name}: holds YAML that cannot be built") from None
    if _expanded(name, value, {}, set()) > _MOST_NODES:
        raise InputError(f"{name}: its YAML aliases expand to more than {_MOST_NODES:,} values")
    return value


def _loader() -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # Moments stay text, as in JSON.
    resolvers = {
        first: [(tag, regexp) for tag, regexp in pairs if tag != "tag:yaml.org,2002:timestamp"]
        for first, pairs in loader.yaml_implicit_resolvers.items()
    }
    return type("Loader", (loader,), {"yaml_implicit_resolvers": resolvers})


def _expanded(name: str, value: Any, sizes: dict[int, int], open_: set[int]) -> int:
    """How many values a document holds once each alias is written out; one visit a node, however often it is used."""
    if not isinstance(value, dict | list):
        return 1
    key = id(value)
    if key in sizes:
        return sizes[key]
    if key in open_ or len(open_) > 500:
        raise InputError(f"{name}: its YAML contains itself or is nested too deeply")
    open_.add(key)
    children = value.values() if isinstance(value, dict) else value
    sizes[key] = 1 + sum(_expanded(name, child, sizes, open_) for child in children)
    open_.remove(key)
    return sizes[key]


def _yaml_problem(error: Any) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or error
    return _one_line(problem) + (f" (line {mark.line + 1})" if mark else "")


def _kind_of(value: Any) -> str:
    return {list: "a list", str: "plain text", type(None): "nothing"}.get(type(value), "a bare value")


def _one_line(error: object) -> str:
    return " ".join(str(error).split())[:300]
