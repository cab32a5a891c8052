"""What `fit` says where a part of the facts was read: a bound or unknown, never more than that."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from lockgate.cli.main import main
from tests.capacity.build import GPU, cpu_node, gpu_node, gpu_pod

CUT = {"continue": "x", "remainingItemCount": 7}
Asked = tuple[int, dict[str, Any], str]


def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str], *arguments: str, **lists: Any) -> Asked:
    """The exit code, the JSON and the text of `fit` about a folder of these lists: objects, or objects and metadata."""
    (tmp_path / "cluster").mkdir(exist_ok=True)
    for plural, given in lists.items():
        objects, metadata = given if isinstance(given, tuple) else (given, {})
        document = {"kind": "List", "metadata": metadata, "items": msgspec.to_builtins(objects)}
        (tmp_path / f"cluster/{plural}.json").write_text(json.dumps(document))
    command = ["fit", "--from", str(tmp_path), *arguments]
    code = main(command)
    text = capsys.readouterr().out
    main([*command, "-o", "json"])
    return code, json.loads(capsys.readouterr().out), " ".join(text.split())


def test_where_nobody_knows_what_pods_hold_there_it_is_unknown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, seen, text = ask(tmp_path, capsys, "--gpus", "2", nodes=[gpu_node("a", 4)])
    assert (code, seen["verdict"], seen["where"], seen["atMost"]) == (4, "unknown", {"a": 1}, True)
    assert text.startswith(
        "UNKNOWN a pod of 2 nvidia.com/gpu: fits if pods that were not read leave room Where it may fit: a"
    )
    assert "what other pods request on a: no cluster/pods.json" in text


def test_more_than_a_node_has_fits_nowhere_whoever_holds_what(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, seen, text = ask(tmp_path, capsys, "--gpus", "5", "--copies", "1", nodes=[gpu_node("a", 4)])
    assert (code, seen["verdict"], seen["changes"]) == (3, "does-not-fit", [])
    assert "less may be left than is told here" in text
    assert "No change was tried" in text


def test_copies_on_nodes_whose_pods_are_not_known_are_a_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, text = ask(tmp_path, capsys, "--gpus", "2", "--copies", "3", nodes=[gpu_node("a", 4)])
    assert code == 3
    assert text.startswith("DOES NOT FIT at most 2 of 3 copies")


def test_what_fits_on_a_part_of_the_nodes_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, seen, _ = ask(tmp_path, capsys, "--gpus", "2", nodes=([gpu_node("a", 4)], CUT), pods=[])
    assert (code, seen["verdict"], seen["where"]) == (0, "fits", {"a": 1})


def test_what_fits_on_no_node_of_a_part_may_fit_on_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pods = [gpu_pod("held", 4, node="a")]
    code, seen, text = ask(tmp_path, capsys, "--gpus", "2", nodes=([gpu_node("a", 4)], CUT), pods=pods)
    assert (code, seen["verdict"]) == (4, "unknown")
    assert text.startswith("UNKNOWN a pod of 2 nvidia.com/gpu: fits on nothing that was read")
    assert "other nodes than those that are known: cluster/nodes.json holds a part of the list" in text


def test_spread_over_nodes_that_were_not_read_is_not_decided(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}
    pod = msgspec.to_builtins(gpu_pod("x", 1, topologySpreadConstraints=[spread]))
    (tmp_path / "pod.json").write_text(json.dumps({"kind": "Pod", **pod}))
    node = gpu_node("a", 4, labels={"zone": "z"})
    asked = ("-f", str(tmp_path / "pod.json"))
    code, seen, text = ask(tmp_path, capsys, *asked, nodes=([node], CUT), pods=[])
    assert (code, seen["verdict"]) == (4, "fits-as-far-as-known")
    assert "affinity and spread among nodes that were not read" in text


DEAD = gpu_node("dead", 4, allocatable={GPU: "0"}, kubelet="v1.35.0")


@pytest.mark.parametrize(("classes", "ends"), [({}, 4), ({"deviceclasses": []}, 3)])
def test_where_classes_were_not_read_a_node_that_advertises_nothing_may_serve_by_claims(
    classes: dict[str, Any], ends: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, seen, text = ask(tmp_path, capsys, "--gpus", "1", nodes=[DEAD, cpu_node("c")], pods=[], **classes)
    assert code == ends
    assert ("claims serve it on dead: no cluster/deviceclasses.json" in text) is (ends == 4)
    assert seen["fits"] is False
