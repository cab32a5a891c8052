"""`-n`, `-A` and `-l` narrow what is shown and never what is added up; what nobody has is said."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_why import run

_GPU = "nvidia.com/gpu"


def _node(name: str, pool: str) -> dict[str, Any]:
    amounts = {_GPU: "2", "cpu": "8", "memory": "32Gi", "pods": "110"}
    labels = {"pool": pool, "nvidia.com/gpu.present": "true", "nvidia.com/gpu.count": "2"}
    status = {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def _pod(name: str, namespace: str, node: str, gpus: int) -> dict[str, Any]:
    amount = {_GPU: str(gpus)}
    asked = {"limits": amount, "requests": amount}
    owner = [{"kind": "ReplicaSet", "name": name, "uid": name, "controller": True}]
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}, "ownerReferences": owner},
        "spec": {"nodeName": node, "containers": [{"name": "main", "resources": asked}]},
        "status": {"phase": "Running" if node else "Pending"},
    }


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two pools; team ml holds one node of a, team web a part of b, and one pod of each waits."""
    items = [
        *({"kind": "Namespace", "metadata": {"name": name}} for name in ("ml", "web")),
        _node("a-1", "a"),
        _node("b-1", "b"),
        _pod("train", "ml", "a-1", 2),
        _pod("infer", "web", "b-1", 1),
        _pod("late", "ml", "", 2),
        _pod("later", "web", "", 2),
    ]
    path: Path = tmp_path_factory.mktemp("facts") / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": items}))
    return str(path)


def _seen(verb: str, cluster: str, *flags: str) -> dict[str, Any]:
    result = run(verb, "--from", cluster, *flags, "-o", "json")
    assert result.stdout, result.stderr
    seen: dict[str, Any] = json.loads(result.stdout)
    return seen


def test_capacity_of_a_namespace_names_its_pods_and_counts_everybodys(cluster: str) -> None:
    whole, own = _seen("capacity", cluster), _seen("capacity", cluster, "-n", "ml")
    assert (own["rows"], own["total"]) == (whole["rows"], whole["total"])
    assert [w["pod"] for w in own["waiting"]] == ["late"]
    assert {w["pod"] for w in whole["waiting"]} == {"late", "later"}
    by = _seen("capacity", cluster, "-n", "ml", "--by", "namespace")
    assert [(r["key"], r["requested"]) for r in by["namespaces"]] == [("ml", 2)]
    assert _seen("capacity", cluster, "-n", "ml", "-A") == whole == _seen("capacity", cluster, "-A")


def test_capacity_of_a_pool_adds_up_its_nodes_with_the_numbers_that_they_have_anyway(cluster: str) -> None:
    whole, pool = _seen("capacity", cluster), _seen("capacity", cluster, "-l", "pool=b")
    assert pool["rows"] == [row for row in whole["rows"] if row["key"] == "b-1"]
    assert [(t["capacity"], t["requested"], t["headroom"]) for t in pool["total"]] == [(2, 1, 1)]
    assert pool["waiting"] == []
    assert [r["key"] for r in _seen("capacity", cluster, "-l", "pool=b", "--by", "namespace")["namespaces"]] == ["web"]
    metrics = [
        run("capacity", "--from", cluster, *flags, "-o", "prometheus").stdout for flags in ((), ("-l", "pool=b"))
    ]
    assert [sum(map(int, re.findall(r'state="requested"} (\d+)', text))) for text in metrics] == [3, 1], metrics


def test_survey_of_a_pool_shows_its_nodes_and_says_what_is_wrong_everywhere(cluster: str) -> None:
    whole, pool = _seen("survey", cluster), _seen("survey", cluster, "-l", "pool in (b)")
    assert pool["nodes"] == [node for node in whole["nodes"] if node["node"] == "b-1"]
    assert pool["diagnosis"]["findings"] == whole["diagnosis"]["findings"]


def test_survey_of_a_namespace_shows_every_node_and_says_what_is_wrong_in_it(cluster: str) -> None:
    whole, own = _seen("survey", cluster), _seen("survey", cluster, "-n", "ml")
    assert [n["offers"] for n in own["nodes"]] == [n["offers"] for n in whole["nodes"]]
    assert own["diagnosis"]["target"]["name"] == "ml"
    assert own["diagnosis"]["findings"]
    assert "web/later" not in json.dumps(own["diagnosis"]["findings"])
    assert "web/later" in json.dumps(whole["diagnosis"]["findings"])
    report = json.loads(run("why", "namespace/ml", "--from", cluster, "-o", "json").stdout)
    assert own["diagnosis"]["findings"] == report["findings"]


def test_explain_of_a_namespace_shows_its_findings_and_the_nodes_that_it_may_go_to(cluster: str) -> None:
    whole, own = _seen("explain", cluster, "capacity"), _seen("explain", cluster, "capacity", "-n", "ml")
    assert own["numbers"]["about"] == {"kind": "Namespace", "name": "ml", "namespace": ""}
    assert own["here"][0]["findings"]
    assert "web/later" not in json.dumps(own["here"])
    assert "web/later" in json.dumps(whole["here"])
    # `late` waits and may go anywhere.
    assert [n["offers"] for n in own["numbers"]["nodes"]] == [n["offers"] for n in whole["numbers"]["nodes"]]
    assert _seen("explain", cluster, "capacity", "-n", "ml", "-A") == whole


def test_explain_of_labels_shows_the_nodes_of_those_pods_with_everybodys_numbers(cluster: str) -> None:
    whole, own = _seen("explain", cluster, "capacity"), _seen("explain", cluster, "capacity", "-l", "app in (infer)")
    assert own["numbers"]["nodes"] == [n for n in whole["numbers"]["nodes"] if n["node"] == "b-1"]
    assert own["here"][0]["findings"] == []
    for form in ("text", "markdown"):
        text = run("explain", "capacity", "-l", "app=infer", "-n", "web", "--from", cluster, "-o", form).stdout
        assert "for pods with app=infer in namespace web (numbers count everybody's pods):" in text
        assert ("\nb-1 " in text, "\na-1 " in text) == (True, False)


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("capacity", "-l", "app=none"), "no pod has the labels app=none"),
        (("capacity", "-l", "=="), '"==" is no label selector'),
        (("capacity", "-n", "mll"), "namespace/mll is not there; did you mean ml?"),
        (("-n", "ml"), "give what to explain as well"),
    ],
)
def test_explain_says_what_nobody_has(flags: tuple[str, ...], says: str, cluster: str) -> None:
    result = run("explain", *flags, "--from", cluster)
    assert (result.returncode, result.stdout, says in result.stderr) == (2, "", True)


def test_what_if_of_a_namespace_names_its_pods_and_ends_as_for_all(cluster: str) -> None:
    drain = ("--drain", "b-1")
    whole, own = _seen("what-if", cluster, *drain), _seen("what-if", cluster, *drain, "-n", "ml")
    assert (own["before"], own["after"]) == (whole["before"], whole["after"])
    assert [f["pod"] for f in whole["waiting"]] == ["infer"]
    assert own["waiting"] == []
    assert "pods of other namespaces, whose fate counts all the same (1)" in own["leftOut"]
    assert whole["leftOut"] == [text for text in own["leftOut"] if "namespaces" not in text]
    codes = {run("what-if", "--from", cluster, *drain, *flags).returncode for flags in ((), ("-n", "ml"))}
    assert codes == {3}


def test_why_of_a_namespace_without_a_target_is_of_that_namespace(cluster: str) -> None:
    named, asked = _seen("why", cluster, "namespace/ml"), _seen("why", cluster, "-n", "ml")
    assert (asked["target"], asked["findings"]) == (named["target"], named["findings"])
    assert _seen("why", cluster, "-n", "ml", "-A")["target"]["kind"] == _seen("why", cluster)["target"]["kind"]


@pytest.mark.parametrize("verb", ["capacity", "survey"])
@pytest.mark.parametrize(
    ("flags", "says"),
    [(("-l", "pool=c"), 'no node has labels "pool=c"'), (("-l", "=="), '"==" is no label selector')],
)
def test_labels_of_no_node_and_no_labels_are_said(verb: str, flags: tuple[str, ...], says: str, cluster: str) -> None:
    result = run(verb, "--from", cluster, *flags)
    assert (result.returncode, result.stdout) == (2, "")
    assert says in result.stderr


@pytest.mark.parametrize(
    "asked",
    [("survey",), ("capacity",), ("capacity", "-o", "prometheus"), ("what-if", "--drain", "b-1"), ("why", "-l", "a=b")],
)
def test_a_namespace_that_is_not_there_is_said_with_what_comes_near(asked: tuple[str, ...], cluster: str) -> None:
    result = run(*asked, "--from", cluster, "-n", "wbe")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "lockgate: namespace/wbe is not there; did you mean web?\n"


def test_fit_says_that_the_namespace_of_its_pod_is_not_there(cluster: str) -> None:
    there, absent = (_seen("fit", cluster, "--gpus", "1", "-n", name)["leftOut"] for name in ("web", "wbe"))
    assert [text for text in absent if text not in there] == [
        "the pod's namespace: namespace/wbe is not there; did you mean web?"
    ]


def test_where_namespaces_were_not_read_capacity_says_so_and_shows_its_numbers(cluster: str, tmp_path: Path) -> None:
    document = json.loads(Path(cluster).read_text())
    document["items"] = [item for item in document["items"] if item["kind"] != "Namespace"]
    (tmp_path / "c.json").write_text(json.dumps(document))
    result = run("capacity", "--from", str(tmp_path / "c.json"), "-n", "wbe")
    assert (result.returncode, "b-1" in result.stdout) == (0, True)
    assert "namespace/wbe cannot be looked up: no pod of it is known, and namespaces: not " in result.stderr


FLAGS = {
    "survey": "-n -A -l",
    "capacity": "-n -A -l",
    "what-if": "-n -A",
    "explain": "-n -A -l",
    "smoke": "-n -l",
    "fit": "-n",
    "lint": "-n -A -l",
    "why": "-n -A -l",
    "collect": "-n -A -l",
    "bundle": "",
    "effective": "",
}


@pytest.mark.parametrize("verb", FLAGS)
def test_each_verb_has_the_flags_that_mean_something_there(verb: str) -> None:
    text = run(verb, "--help").stdout
    assert [flag for flag in ("-n", "-A", "-l") if re.search(rf"\n  {flag}[ ,]", text)] == FLAGS[verb].split()
