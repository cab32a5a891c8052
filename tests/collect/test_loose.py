"""Folders and archives that a person or kubectl filled: files under any names."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from lockgate.collect.errors import InputError
from lockgate.collect.offline import from_path
from lockgate.model.facts import Missing, Snapshot

FULL = "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."


def pod(name: str, namespace: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}}


def listed(*items: Any) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def bare(kind: str, *items: dict[str, Any]) -> dict[str, Any]:
    """A list of one kind, whose items have none."""
    return {"apiVersion": "v1", "kind": f"{kind}List", "items": [{"metadata": i["metadata"]} for i in items]}


NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "gpu-a"}}
EVENTS = (
    "LAST SEEN   TYPE      REASON             OBJECT   MESSAGE\n"
    f"27s         Warning   FailedScheduling   pod/x    {FULL}\n"
)
DESCRIBED = (
    "Name:             x\nNamespace:        ml\nStatus:           Pending\nContainers:\n  main:\n    Image:  a\n"
)
LOGS = (
    "==== START logs for container main of pod ml/x ====\none\ntwo\n==== END logs for container main of pod ml/x ====\n"
)
LAYOUTS: dict[str, dict[str, str]] = {
    "one file a kind": {"pods.json": listed(pod("x", "ml"), pod("y", "web")), "my nodes.yaml": yaml.safe_dump(NODE)},
    "kubectl cluster-info dump": {
        "nodes.json": json.dumps(bare("Node", NODE)),
        "ml/pods.json": json.dumps(bare("Pod", pod("x", "ml"))),
        "kube-system/pods.json": json.dumps(bare("Pod", pod("y", "web"))),
        "ml/x/logs.txt": LOGS,
    },
    "oc adm must-gather": {
        "must-gather.local.1/quay-io/namespaces/ml/core/pods.yaml": yaml.safe_dump(bare("Pod", pod("x", "ml"))),
        "must-gather.local.1/quay-io/namespaces/ml/pods/x/x.yaml": yaml.safe_dump(pod("x", "ml")),
        "must-gather.local.1/quay-io/namespaces/web/pods/y/y.yaml": yaml.safe_dump(pod("y", "web")),
        "must-gather.local.1/quay-io/cluster-scoped-resources/core/nodes/gpu-a.yaml": yaml.safe_dump(NODE),
    },
}


def read(root: Path, files: dict[str, str]) -> Snapshot:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return from_path(str(root), io.BytesIO(), "ml", "x")


def known(facts: Snapshot) -> tuple[list[str], list[str]]:
    assert not isinstance(facts.nodes, Missing)
    return sorted(p.name for p in facts.known_pods), [n.name for n in facts.nodes]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_object_counts_once_whatever_its_file_is_called(layout: str, tmp_path: Path) -> None:
    assert known(read(tmp_path, LAYOUTS[layout])) == (["x", "y"], ["gpu-a"])


@pytest.mark.parametrize(("layout", "whole"), [*zip(LAYOUTS, (True, False, False), strict=True)])
def test_pods_of_all_namespaces_are_known_where_one_file_has_them(layout: str, whole: bool, tmp_path: Path) -> None:
    assert isinstance(read(tmp_path, LAYOUTS[layout]).pods, Missing) is not whole


def test_an_archive_of_such_a_folder_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for path, text in LAYOUTS["one file a kind"].items():
            archive.writestr(path, text)
    assert known(from_path(str(tmp_path / "all.zip"), io.BytesIO())) == (["x", "y"], ["gpu-a"])


def test_text_beside_objects_tells_what_those_do_not(tmp_path: Path) -> None:
    facts = read(tmp_path, {"nodes.json": listed(NODE), "describe.txt": DESCRIBED, "events.txt": EVENTS})
    assert known(facts)[1] == ["gpu-a"]
    assert {p.name for p in facts.known_pods} == {"x"}
    assert not isinstance(facts.events, Missing)
    assert [e.message for e in facts.events] == [FULL]


def test_the_logs_of_a_dump_are_read(tmp_path: Path) -> None:
    logs = read(tmp_path, LAYOUTS["kubectl cluster-info dump"]).logs
    assert not isinstance(logs, Missing)
    assert [(log.namespace, log.pod, log.container, log.text) for log in logs] == [("ml", "x", "main", "one\ntwo\n")]


def test_what_was_not_understood_is_said(tmp_path: Path) -> None:
    (left,) = read(tmp_path, {"pods.json": listed(pod("x", "ml")), "note.txt": "it hangs"}).left_out
    assert (left.section, left.decides) == ("files", False)
    assert "note.txt" in left.reason


TABLE = "NAMESPACE   NAME   READY   STATUS\nml          x      1/1     Running\n"
FORBIDDEN = 'Error from server (Forbidden): events is forbidden: User "u" cannot list resource "events"\n'


@pytest.mark.parametrize(
    ("path", "text", "says"),
    [
        ("events.json", FORBIDDEN, "events.json: Error from server (Forbidden): events is forbidden"),
        ("events.txt", FORBIDDEN, "events.txt: Error from server (Forbidden): events is forbidden"),
        ("pods.txt", TABLE, "pods.txt is a table of kubectl get, which shows too little; send the same with -o json"),
        ("kern.log", "[  1.0] NVRM: Xid (PCI:0000:3b:00): 79\n", "kern.log is a kernel's log; put it into a folder as"),
    ],
)
def test_what_a_file_without_objects_is_and_what_to_send_instead_is_said(
    path: str, text: str, says: str, tmp_path: Path
) -> None:
    (left,) = read(tmp_path, {"pods.json": listed(pod("x", "ml")), path: text}).left_out
    assert left.reason.startswith(says)


def test_of_many_such_files_the_first_are_told(tmp_path: Path) -> None:
    files = {f"{number}.json": FORBIDDEN for number in range(5)} | {"pods.json": listed(pod("x", "ml"))}
    assert [part.reason for part in read(tmp_path, files).left_out][3:] == ["2 more files hold no objects"]


def test_where_there_is_nothing_else_what_kubectl_complained_of_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"events\.json: Error from server \(Forbidden\)"):
        read(tmp_path, {"events.json": FORBIDDEN})


def test_a_file_of_objects_that_is_broken_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ml/pods\.json: is not complete JSON"):
        read(tmp_path, {"nodes.json": listed(NODE), "ml/pods.json": listed(pod("x", "ml"))[:-5]})


@pytest.mark.parametrize("files", [{"readme.md": "hello"}, {"package.json": "{"}, {".kube/config.yaml": listed(NODE)}])
def test_a_folder_of_something_else_is_refused(files: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds none of"):
        read(tmp_path, files)
