"""A part of a list is no list: what is not in it was not read."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockgate.collect import json_list
from lockgate.collect.errors import InputError
from lockgate.collect.manifest import read_manifest
from lockgate.collect.offline import from_bytes, from_path
from lockgate.model.facts import Missing, Snapshot

CUT = {"continue": "eyJ2IjoibWV0YS5rOHMuaW8vdjEifQ", "remainingItemCount": 1812, "resourceVersion": "9"}
WHOLE = {"resourceVersion": "9"}


def pod(name: str, namespace: str = "ml") -> dict[str, Any]:
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": namespace}}


def node(name: str) -> dict[str, Any]:
    return {"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}}


def plugin(ready: int, namespace: str = "gpu-operator") -> dict[str, Any]:
    metadata = {"name": "nvidia-device-plugin-daemonset", "namespace": namespace}
    return {"kind": "DaemonSet", "metadata": metadata, "status": {"numberReady": ready}}


def written(kind: str, items: list[dict[str, Any]], meta: dict[str, Any] = WHOLE) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": kind, "metadata": meta, "items": items}).encode()


def folder(root: Path, **files: bytes) -> Snapshot:
    (root / "cluster").mkdir()
    for plural, data in files.items():
        (root / "cluster" / f"{plural}.json").write_bytes(data)
    return from_path(str(root), io.BytesIO())


def reason(section: Any) -> str:
    assert isinstance(section, Missing)
    return section.reason


def test_nodes_that_are_cut_are_not_read(tmp_path: Path) -> None:
    facts = folder(tmp_path, nodes=written("NodeList", [node("a")], CUT), pods=written("List", [pod("x")]))
    assert (
        reason(facts.nodes) == "cluster/nodes.json holds a part of the list: its metadata says that 1,812 more follow"
    )
    assert [n.name for n in facts.some_nodes] == ["a"]
    assert not isinstance(facts.pods, Missing)


def test_of_pods_that_are_cut_each_is_known_and_what_all_hold_is_not(tmp_path: Path) -> None:
    facts = folder(tmp_path, pods=written("PodList", [pod("x"), pod("y", "b")], CUT))
    assert reason(facts.pods).startswith("cluster/pods.json holds a part of the list")
    assert [p.name for p in facts.known_pods] == ["x", "y"]
    assert [(left.section, left.decides) for left in facts.left_out] == [("pods", False)]


def test_events_that_are_cut_tell_what_they_tell(tmp_path: Path) -> None:
    about = {"kind": "Pod", "name": "x", "namespace": "ml"}
    event = {"kind": "Event", "metadata": {"name": "e", "namespace": "ml"}, "involvedObject": about}
    facts = folder(tmp_path, events=written("EventList", [event], CUT), pods=written("List", [pod("x")]))
    assert not isinstance(facts.events, Missing)
    assert [(left.section, left.decides) for left in facts.left_out] == [("events", True)]


def test_how_many_follow_may_not_be_told(tmp_path: Path) -> None:
    facts = folder(tmp_path, nodes=written("NodeList", [node("a")], {"continue": "abc"}))
    assert reason(facts.nodes).endswith("says that more follows")


def test_one_file_of_a_cut_list() -> None:
    facts = from_bytes("x.json", written("NodeList", [node("a")], CUT))
    assert reason(facts.nodes).startswith("x.json holds a part of the list")


NODES = [node("a"), node("b"), node("c")]
LIST: dict[str, Any] = {"apiVersion": "v1", "items": NODES, "kind": "List", "metadata": WHOLE}
TORN = {
    "as kubectl prints it": json.dumps(LIST, indent=4).encode(),
    "on one line": json.dumps(LIST).encode(),
    "with its kind first": written("NodeList", NODES),
    "as jq prints it": json.dumps(NODES).encode(),
}


@pytest.mark.parametrize("whole", TORN.values(), ids=TORN)
def test_of_a_list_that_was_half_written_the_objects_before_the_end_are_known(whole: bytes, tmp_path: Path) -> None:
    at = whole.index(b'"c"')
    facts = folder(tmp_path, nodes=whole[: at - 3], pods=written("List", [pod("x")]))
    assert reason(facts.nodes) == "cluster/nodes.json holds a part of the list: the file ends within it"
    assert [n.name for n in facts.some_nodes] == ["a", "b"]
    assert reason(from_bytes("x.json", whole[: at - 3]).nodes) == (
        "x.json holds a part of the list: the file ends within it"
    )


@pytest.mark.parametrize("lost", range(1, 60, 3))
def test_wherever_a_list_ends_its_nodes_are_not_all(lost: int) -> None:
    facts = from_bytes("x.json", TORN["on one line"][:-lost])
    assert isinstance(facts.nodes, Missing)
    assert [n.name for n in facts.some_nodes][:1] == ["a"]


def test_of_a_list_of_several_kinds_every_kind_counts_as_torn() -> None:
    data = json.dumps({"items": [pod("x"), pod("y", "b"), node("a"), node("b")], "kind": "List"}).encode()
    facts = from_bytes("x.json", data[: data.index(b'"name": "b"')])
    assert reason(facts.pods) == reason(facts.nodes) == "x.json holds a part of the list: the file ends within it"
    assert sorted(p.name for p in facts.known_pods) == ["x", "y"]
    assert isinstance(facts.daemon_sets, Missing)


def test_a_long_list_that_was_half_written() -> None:
    data = written("NodeList", [node(f"n{number}-{'x' * 200}") for number in range(2 * json_list.PIECE // 200)])
    facts = from_bytes("x.json", data[:-2000])
    assert isinstance(facts.nodes, Missing)
    assert len(facts.some_nodes) > json_list.PIECE // 200


@pytest.mark.parametrize("data", [json.dumps(node("a")).encode()[:-9], written("NodeList", [node("a")])[:40], b'[{"ki'])
def test_where_no_object_is_whole_it_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="is not complete JSON"):
        from_bytes("x.json", data)


@pytest.mark.parametrize("behind", ["metadata:\n    name: c", "name: c", "- apiVersion", "kind: List"])
def test_of_a_yaml_list_that_was_half_written_the_last_object_is_not_believed(behind: str, tmp_path: Path) -> None:
    """Half of a YAML is one too: kubectl writes the kind of a list behind its objects."""
    text = yaml.safe_dump(LIST)
    half = text[: text.rindex(behind)].encode()
    facts = from_bytes("x.yaml", half)
    assert reason(facts.nodes) == "x.yaml holds a part of the list: the file ends within it"
    assert [n.name for n in facts.some_nodes][:2] in (["a", "b"], ["a"])
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster/nodes.yaml").write_bytes(half)
    (tmp_path / "cluster/pods.json").write_bytes(written("List", [pod("x")]))
    assert isinstance(from_path(str(tmp_path), io.BytesIO()).nodes, Missing)


def test_a_whole_yaml_list_is_whole() -> None:
    assert not isinstance(from_bytes("x.yaml", yaml.safe_dump(LIST).encode()).nodes, Missing)


def test_half_a_manifest_is_refused(tmp_path: Path) -> None:
    whole = json.dumps({"kind": "List", "items": [pod("x"), pod("y")]})
    (tmp_path / "x.json").write_text(whole[:-9])
    with pytest.raises(InputError, match="is not complete JSON"):
        read_manifest(str(tmp_path / "x.json"), io.BytesIO(), "ml")


@pytest.mark.parametrize("behind", [False, True])
def test_a_long_list_says_it_before_or_behind_its_items(behind: bool, tmp_path: Path) -> None:
    items = [node(f"n{number}-{'x' * 200}") for number in range(json_list.PIECE // 200)]
    document = {"kind": "NodeList", "items": items, "metadata": CUT}
    ordered = document if behind else {"metadata": CUT, **document}
    facts = folder(tmp_path, nodes=json.dumps(ordered).encode())
    assert reason(facts.nodes).startswith("cluster/nodes.json holds a part")


def test_a_daemon_set_tells_that_pods_are_of_some_namespaces_alone(tmp_path: Path) -> None:
    facts = folder(tmp_path, pods=written("List", [pod("x")]), daemonsets=written("List", [plugin(2)]))
    assert "no pod of namespace gpu-operator, where DaemonSet nvidia-device-plugin-daemonset counts 2 ready" in reason(
        facts.pods
    )
    assert [p.name for p in facts.known_pods] == ["x"]


@pytest.mark.parametrize(
    ("pods", "ready"),
    [([pod("x"), pod("plugin", "gpu-operator")], 2), ([pod("x")], 0), ([pod("x", "gpu-operator")], 1)],
)
def test_pods_of_all_namespaces_are_whole(pods: list[dict[str, Any]], ready: int, tmp_path: Path) -> None:
    facts = folder(tmp_path, pods=written("List", pods), daemonsets=written("List", [plugin(ready)]))
    assert not isinstance(facts.pods, Missing)
    assert facts.left_out == ()
