"""`survey`: the read-only walk in one view, from recorded clusters."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_why import BUNDLES, run


def test_every_node_stands_with_both_gates_and_its_versions() -> None:
    document = json.loads(run("survey", "--from", str(BUNDLES / "all-held-installed.tgz"), "-o", "json").stdout)
    assert (document["apiVersion"], document["kind"]) == ("lockgate.dev/v1alpha1", "Survey")
    node = document["nodes"][0]
    (offer,) = node["offers"]
    assert (offer["capacity"], offer["allocatable"], offer["requested"], offer["headroom"]) == (2, 2, 2, 0)
    assert "nvidia" in node["handlers"]
    assert node["cdiDevices"] > 0
    assert "unknown" not in (node["versions"]["driver"], node["versions"]["kubelet"])
    assert {o["operand"] for o in document["operands"]} >= {"device-plugin", "container-toolkit"}
    found = [f["id"] for f in document["diagnosis"]["findings"]]
    assert found == ["scheduling/all-held", "scheduling/preemption-would-not-help"]


@pytest.mark.parametrize(("bundle", "code"), [("healthy-installed", 0), ("unhealthy", 3), ("cordon", 3)])
def test_the_exit_code_is_that_of_why(bundle: str, code: int) -> None:
    result = run("survey", "--from", str(BUNDLES / f"{bundle}.tgz"))
    assert (result.returncode, result.stderr) == (code, "")
    assert max(len(line) for line in result.stdout.splitlines()) <= 100


def test_a_node_that_offers_nothing_is_shown_and_its_fault_named() -> None:
    text = run("survey", "--from", str(BUNDLES / "pinned-no-plugin.tgz")).stdout
    assert "node-a" in text
    assert "operands/plugin-not-targeted" in text


def test_what_is_not_known_is_said(tmp_path: Path) -> None:
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster/pods.json").write_text('{"kind": "PodList", "items": []}')
    result = run("survey", "--from", str(tmp_path))
    assert (result.returncode, "nodes are not known" in result.stderr) == (2, True)
    (tmp_path / "cluster/nodes.json").write_text('{"kind": "NodeList", "items": []}')
    text = run("survey", "--from", str(tmp_path)).stdout
    assert "NOT KNOWN" in text
    assert "daemon sets: no cluster/daemonsets.json" in text


def _gpu_node(root: Path, **others: dict[str, Any]) -> None:
    node = {"metadata": {"name": "gpu-a"}, "status": {k: {"nvidia.com/gpu": "8"} for k in ("capacity", "allocatable")}}
    (root / "cluster").mkdir()
    for plural, item in {"nodes": node, **others}.items():
        (root / f"cluster/{plural}.json").write_text(json.dumps({"kind": "List", "items": [item]}))


def _pod(namespace: str) -> dict[str, Any]:
    holds = [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "3"}, "requests": {"nvidia.com/gpu": "3"}}}]
    spec = {"nodeName": "gpu-a", "containers": holds}
    return {"kind": "Pod", "metadata": {"name": "x", "namespace": namespace}, "spec": spec}


@pytest.mark.parametrize(("namespace", "numbers"), [("ml", "8 8 8 ? ? ?"), ("gpu-operator", "8 8 8 3 0 5")])
def test_where_pods_of_some_namespaces_are_read_the_nodes_stand_and_what_is_requested_is_open(
    namespace: str, numbers: str, tmp_path: Path
) -> None:
    named = {"name": "nvidia-device-plugin-daemonset", "namespace": "gpu-operator"}
    plugin = {"kind": "DaemonSet", "metadata": named, "status": {"numberReady": 1}}
    _gpu_node(tmp_path, pods=_pod(namespace), daemonsets=plugin)
    result = run("survey", "--from", str(tmp_path))
    line = result.stdout.splitlines()[1]
    assert (result.stderr, " ".join(line.split()[2:8])) == ("", numbers)
    told = "what is requested on 1 GPU node is unknown" in " ".join(result.stdout.split())
    assert told is ("?" in numbers)
    page = run("survey", "--from", str(tmp_path), "-o", "html").stdout
    assert ("unknown requested" in page) is told


def test_of_a_list_of_nodes_that_is_cut_those_are_shown_that_are_there(tmp_path: Path) -> None:
    _gpu_node(tmp_path)
    nodes = tmp_path / "cluster/nodes.json"
    cut = {"continue": "x", "remainingItemCount": 7}
    nodes.write_text(json.dumps(json.loads(nodes.read_text()) | {"metadata": cut}))
    (tmp_path / "cluster/pods.json").write_text('{"kind": "PodList", "items": []}')
    result = run("survey", "--from", str(tmp_path))
    assert result.returncode == 4
    assert "gpu-a" in result.stdout
    assert "other nodes than these, and what all have together: cluster/nodes.json holds a part" in " ".join(
        result.stdout.split()
    )
    document = json.loads(run("survey", "--from", str(tmp_path), "-o", "json").stdout)
    assert ([n["node"] for n in document["nodes"]], document["diagnosis"]["verdict"]) == (["gpu-a"], "unknown")


def test_a_configuration_that_the_runtime_has_unsaid_is_called_out_of_date() -> None:
    text = run("survey", "--from", str(BUNDLES / "dropin-trap.tgz")).stdout
    (line,) = [line for line in text.splitlines() if line.endswith("out of date")]
    assert line.split()[:3] == ["gpu-b", "no", "nvidia;"]
