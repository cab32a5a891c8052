"""Lists of any length: read in pieces, of many events those kept that tell most, and what was left out is said."""

import datetime as dt
import io
import json
import tarfile
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lockgate.collect.decode import objects_in
from lockgate.collect.errors import InputError
from lockgate.collect.event_sieve import EventSieve
from lockgate.collect.json_list import PIECE
from lockgate.collect.offline import from_bytes, from_path
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.model.facts import API_SECTIONS, Missing, Snapshot
from lockgate.model.objects import Event, ObjectReference
from lockgate.rules import all_rules

NOW = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)
FULL = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."


def event(number: int, pod: str = "", text: str = "pulled", kind: str = "Normal") -> dict[str, Any]:
    """An event of about 1 KB, as the API server keeps it."""
    source = {f"f:component-{i}": {} for i in range(8)}
    fields: dict[str, Any] = {"f:count": {}, "f:message": {"}, {": {}}, "f:source": source}
    name = pod or f"web-{number}"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{name}.{number:016x}",
            "namespace": "default",
            "managedFields": [{"manager": "kubelet", "fieldsV1": fields}, {"manager": "x", "fieldsV1": fields}],
        },
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": name},
        "type": kind,
        "reason": "FailedScheduling" if kind == "Warning" else "Pulled",
        "message": f'{text} "}},{{"',
        "lastTimestamp": (NOW - dt.timedelta(seconds=number)).isoformat(),
    }


def events(count: int) -> list[dict[str, Any]]:
    """Many of other pods; somewhere among them the one that tells why `late` waits."""
    found = [event(number) for number in range(count)]
    found[count // 3] = event(10**6, "late", FULL, "Warning")
    return found


def written(items: list[dict[str, Any]], indent: int | None = None) -> bytes:
    return json.dumps({"apiVersion": "v1", "items": items, "kind": "List"}, indent=indent).encode()


def kinds(data: bytes) -> Iterator[tuple[str, bytes]]:
    return objects_in("x.json", io.BufferedReader(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("indent", "encoding"), [(None, "utf-8"), (4, "utf-8"), (1, "utf-8-sig"), (None, "utf-16"), (1, "utf-16-le")]
)
def test_a_long_list_is_read_in_pieces_and_nothing_of_it_is_lost(indent: int | None, encoding: str) -> None:
    many = events(6000)
    data = written(many, indent).decode().encode(encoding)
    assert len(data) > 2 * PIECE
    read = list(kinds(data))
    assert [json.loads(raw) for _, raw in read] == many
    assert {kind for kind, _ in read} == {"Event"}


def test_objects_that_begin_otherwise_are_told_apart_too() -> None:
    many = [{"kind": "Pod", "metadata": {"name": "x"}}, *events(6000), {"metadata": {"name": "y"}}]
    assert len(list(kinds(written(many)))) == 6002


def answered(kind: str, items: list[dict[str, Any]], order: str) -> bytes:
    """A list as `kubectl get --raw` prints it, and the same with sorted keys: its objects have no kind."""
    bare = [{k: v for k, v in each.items() if k not in ("kind", "apiVersion")} for each in items]
    rows = json.dumps(bare, separators=(",", ":")).encode()
    if order == "kind-first":
        return b'{"kind":"%bList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":%b}' % (
            kind.encode(),
            rows,
        )
    return b'{"apiVersion":"v1","items":%b,"kind":"%bList","metadata":{}}' % (rows, kind.encode())


ORDERS = pytest.mark.parametrize("order", ["kind-first", "kind-last"])


@ORDERS
@pytest.mark.parametrize(
    ("kind", "count"), [*((s.kind, 2) for s in API_SECTIONS), ("Pod", 6000), ("Node", 6000), ("Event", 6000)]
)
def test_objects_without_a_kind_have_their_lists(kind: str, count: int, order: str) -> None:
    read = list(kinds(answered(kind, events(count), order)))
    assert {kind for kind, _ in read} == {kind}
    assert [json.loads(raw)["metadata"]["name"] for _, raw in read] == [e["metadata"]["name"] for e in events(count)]


@ORDERS
@pytest.mark.parametrize("way", ["file", "stdin", "folder", "archive"])
def test_a_long_pod_list_of_the_api_server_is_read_whole_whichever_way_it_comes(
    order: str, way: str, tmp_path: Path
) -> None:
    pods = [POD | {"metadata": {"name": f"p-{n}", "namespace": "default"}, "pad": "x" * 800} for n in range(4000)]
    data = answered("Pod", pods, order)
    assert len(data) > PIECE
    facts = from_path(*placed(data, way, tmp_path))
    assert not isinstance(facts.namespace_pods, Missing)
    assert [pod.name for pod in facts.namespace_pods] == [pod["metadata"]["name"] for pod in pods]


def placed(data: bytes, way: str, folder: Path) -> tuple[str, io.BytesIO]:
    """What is asked with, of a list of pods that lies somewhere."""
    (folder / "b" / "cluster").mkdir(parents=True)
    match way:
        case "stdin":
            return "-", io.BytesIO(data)
        case "file":
            (folder / "pods.json").write_bytes(data)
            return str(folder / "pods.json"), io.BytesIO()
        case "folder":
            (folder / "b" / "cluster" / "pods.json").write_bytes(data)
            return str(folder / "b"), io.BytesIO()
        case _:
            return str(archive(folder / "b.tgz", {"b/cluster/pods.json": data})), io.BytesIO()


def archive(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def test_more_objects_without_a_kind_than_are_held_end_in_one_line() -> None:
    large: list[dict[str, Any]] = [{"metadata": {"name": "x" * (3 << 20)}}] * 48
    with pytest.raises(InputError, match="128 MiB of its objects have no kind"):
        list(kinds(answered("Pod", large, "kind-last")))
    assert len(list(kinds(answered("Pod", large, "kind-first")))) == 48


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (written(events(6000))[:-20], "is not complete JSON"),
        (written(events(6000)) + b"}", "is not complete JSON"),
        (written(events(6000)).replace(b'"late"', b"late"), "x.json"),
        (b'{"items": [' + b"{}" * (20 << 20), "is no list of objects that can be told apart"),
        (b'{"kind": "Pod", "metadata": {"name": "' + b"x" * (40 << 20), "is no list of objects that can be told apart"),
    ],
)
def test_a_long_file_that_is_broken_ends_in_one_line(data: bytes, says: str) -> None:
    with pytest.raises(InputError, match=says):
        list(kinds(data))


def test_reading_a_long_list_takes_little_memory() -> None:
    data = io.BufferedReader(io.BytesIO(written(events(24_000))))
    tracemalloc.start()
    try:
        assert sum(1 for _ in objects_in("x.json", data)) == 24_000
        assert tracemalloc.get_traced_memory()[1] < 14 * PIECE
    finally:
        tracemalloc.stop()


def lines(items: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in items)


@pytest.mark.parametrize("count", [2, 6000])
@pytest.mark.parametrize(
    "put",
    [
        lines,
        lambda items: json.dumps(items, indent=1).encode(),
        lambda items: written(items[:-1]) + b"\n" + written(items[-1:]),
        lambda items: b"".join(map(written, ([each] for each in items[:9]))) + written(items[9:]),
    ],
    ids=["an object a line", "what jq leaves of a list", "a second list behind the first", "ten lists"],
)
def test_what_several_commands_put_into_one_file_is_read_whole(put: Callable[[Any], bytes], count: int) -> None:
    assert [json.loads(raw) for _, raw in kinds(put(events(count)))] == events(count)


# --- which are kept


def told(number: int, kind: str, text: str, name: str = "web") -> Event:
    return Event(
        type=kind,
        message=text,
        involved_object=ObjectReference(kind="Pod", name=name),
        last_timestamp=NOW + dt.timedelta(seconds=number),
    )


def test_of_many_events_those_are_kept_that_tell_most() -> None:
    sieve = EventSieve("late", most=4)
    every = [
        *(told(number, "Normal", "Pulled") for number in range(50)),
        told(0, "Normal", "Started", "late-7f9-x"),
        told(1, "Warning", FULL),
        told(2, "Warning", "Back-off"),
        told(3, "Warning", "Back-off"),
        *(told(number, "Normal", "Pulled") for number in range(50)),
    ]
    for each in every:
        sieve.add(each)
    assert sieve.events == tuple(every[50:54])
    (left,) = sieve.left_out
    assert "104 events were given and 4 are kept: all that name late" in left.reason


def test_where_warnings_had_to_be_left_out_the_answer_may_depend_on_them() -> None:
    sieve = EventSieve(most=3)
    for number in range(20):
        sieve.add(told(number, "Warning", FULL))
    assert [each.last_timestamp for each in sieve.events] == [NOW + dt.timedelta(seconds=n) for n in (17, 18, 19)]
    assert sieve.left_out[0].decides


def test_few_events_are_all_kept() -> None:
    sieve = EventSieve(most=3)
    for number in range(3):
        sieve.add(told(number, "Normal", "x"))
    assert (len(sieve.events), sieve.left_out) == (3, ())


# --- in each of the ways that they come


POD = {
    "kind": "Pod",
    "metadata": {"name": "late", "namespace": "default"},
    "spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
    "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": FULL}]},
}
MANY = 60_000


@pytest.fixture(scope="module")
def many() -> bytes:
    one = json.dumps({"kind": "Event", **event(0, "web-@"), "metadata": {}}).encode()
    late = json.dumps(event(1, "late", FULL, "Warning")).encode()
    rows = b", ".join((*(one.replace(b"web-@", b"web-%d" % n) for n in range(MANY - 1)), late))
    return b'{"items": [' + rows + b"]}"


def explained(facts: Snapshot) -> str:
    """What the answer about the pod says of events; that of the pod itself is kept."""
    assert not isinstance(facts.events, Missing)
    assert any(each.about.name == "late" for each in facts.events)
    answer = diagnose(facts, parse_target("pod/late"), all_rules())
    return next(n.reason for n in answer.not_checked if n.id == "events" and "are kept" in n.reason)


def test_an_archive_with_more_events_than_are_kept_is_answered_in_part(many: bytes, tmp_path: Path) -> None:
    path = archive(tmp_path / "b.tgz", {"b/cluster/events.json": many, "b/cluster/pods.json": written([POD])})
    facts = from_path(str(path), io.BytesIO(), "default", "late")
    assert explained(facts).startswith("60,000 events were given and 50,000 are kept: all that name late")


def test_one_file_likewise(many: bytes) -> None:
    whole = many.replace(b'"items": [', b'"items": [' + json.dumps(POD).encode() + b", ", 1)
    assert "50,000 are kept" in explained(from_bytes("events.json", whole, "default", "late"))


def test_a_list_as_the_terminal_shows_it_is_read_line_by_line() -> None:
    head = "NAMESPACE   LAST SEEN   TYPE      REASON             OBJECT       MESSAGE\n"
    row = "default     5m          Normal    Pulled             pod/web-{}   Container image already there: {}\n"
    late = f"default     2d3h        Warning   FailedScheduling   pod/late     {FULL}\n"
    text = head + "".join(row.format(n, "x" * 200) for n in range(MANY)) + late
    facts = from_bytes("events.txt", text.encode(), "default", "late")
    assert len(text) > 16 << 20
    assert explained(facts).startswith("60,001 events were given and 50,000 are kept")
