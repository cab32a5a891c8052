"""kubectl's flags on the real cluster: -n, -A, -l, --as and --request-timeout narrow, hide and end as they say.

One pod runs in `default`, one waits in `team` for more CPUs than a node has, and so does one of a Deployment there.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml

from tests.cluster import Cluster
from tests.cluster.asking import Answer, ask
from tests.cluster.e2e.conftest import NAMES, TEAM, get, is_cleared, wait_gpus, wait_phase, wait_unscheduled
from tests.cluster.manifests import deployment, pod
from tests.cluster.supervisor_client import Supervisor

pytestmark = pytest.mark.e2e

READER = f"system:serviceaccount:{TEAM}:reader"
REFUSED = "is forbidden: User"


@pytest.fixture(scope="module")
def busy(installed: Cluster) -> Iterator[Cluster]:
    """The cluster with these pods, and a service account that may do no more than get pods of `team`."""
    for node in NAMES:
        wait_gpus(installed, node, "2", "2")
    installed.apply(labelled(pod("one", gpus=1, on="gpu-a"), app="train"))
    installed.apply(labelled(pod("two", gpus=1, namespace=TEAM, resources={"cpu": "500"}), app="train"))
    installed.apply(labelled(deployment("infer", replicas=1, gpus=1, namespace=TEAM), app="infer"))
    wait_phase(installed, "one", "Running")
    wait_unscheduled(installed, "two", "Insufficient cpu", TEAM)
    installed.wait_for(lambda: get(installed, "deployment", "infer", TEAM)["status"].get("readyReplicas"), "infer")
    with reader(installed):
        yield installed
    for namespace in ("default", TEAM):
        installed.wait_for(lambda n=namespace: is_cleared(installed, n), f"namespace {namespace} is empty")


def labelled(manifest: str, **labels: str) -> str:
    body = json.loads(manifest)
    body["metadata"]["labels"] = labels
    return json.dumps(body)


@contextmanager
def reader(cluster: Cluster) -> Iterator[None]:
    """The service account, in force: the API server follows its own rules from a cache."""
    cluster.kubectl("create", "serviceaccount", "reader", "-n", TEAM)
    cluster.kubectl("create", "role", "reader", "-n", TEAM, "--verb=get", "--resource=pods")
    cluster.kubectl("create", "rolebinding", "reader", "-n", TEAM, "--role=reader", f"--serviceaccount={TEAM}:reader")
    allowed = ("auth", "can-i", "get", "pods", "-n", TEAM, "--as", READER)
    cluster.wait_for(lambda: cluster.kubectl(*allowed, check=False).strip() == "yes", "the reader may get pods")
    try:
        yield
    finally:
        for kind in ("rolebinding", "role", "serviceaccount"):
            cluster.kubectl("delete", kind, "reader", "-n", TEAM, "--ignore-not-found")


def seen(cluster: Cluster, *arguments: str, code: int = 0) -> dict[str, Any]:
    """The JSON answer of a verb that ends with that code and says nothing beside it."""
    done = ask(*arguments, "--kubeconfig", cluster.kubeconfig, "-o", "json")
    assert (done.returncode, done.stderr) == (code, ""), done.stdout
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def refused(cluster: Cluster, *arguments: str, code: int = 1) -> str:
    """What a verb says in one line that it cannot do; it prints nothing else."""
    done = ask(*arguments, "--kubeconfig", cluster.kubeconfig)
    assert (done.returncode, done.stdout) == (code, ""), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def causes(report: dict[str, Any]) -> list[str]:
    return Answer(0, report, "").causes


def affected(report: dict[str, Any]) -> set[str]:
    return {name for finding in report["findings"] for name in finding["affects"]}


# --- why


@pytest.mark.parametrize("where", [("-n", TEAM), ("-A",)])
def test_why_by_label_names_the_one_that_waits(busy: Cluster, where: tuple[str, ...]) -> None:
    report = seen(busy, "why", "-l", "app=train", *where, code=3)
    assert (causes(report), affected(report)) == (["scheduling/other-resource"], {f"{TEAM}/two"})


def test_why_by_label_is_of_one_namespace_unless_all_are_meant(busy: Cluster) -> None:
    for where in ((), ("-n", "default")):
        assert "1 of them in namespace default looked at" in seen(busy, "why", "-l", "app=train", *where)["headline"]
    assert "no pod has the labels app=nobody" in refused(busy, "why", "-l", "app=nobody", "-A", code=2)
    assert '"app=train," is no label selector' in refused(busy, "why", "-l", "app=train,", code=2)


def test_why_of_a_namespace_says_what_is_wrong_in_it_and_no_more(busy: Cluster) -> None:
    report = seen(busy, "why", "-n", TEAM, code=3)
    assert (report["target"]["kind"], report["target"]["name"]) == ("Namespace", TEAM)
    assert affected(report) == {f"{TEAM}/two"}
    assert seen(busy, "why", "-n", "default")["findings"] == []


# --- views of the whole


def test_survey_shows_nodes_by_label_and_findings_by_namespace(busy: Cluster) -> None:
    pool = seen(busy, "survey", "-l", "pool=train", code=3)
    assert {node["node"] for node in pool["nodes"]} == set(NAMES)
    team, default = seen(busy, "survey", "-n", TEAM, code=3), seen(busy, "survey", "-n", "default")
    assert {node["node"] for node in team["nodes"]} == {node["node"] for node in default["nodes"]} == set(busy.nodes)
    assert "scheduling/other-resource" in json.dumps(team)
    assert "scheduling/other-resource" not in json.dumps(default)
    for verb in ("survey", "capacity", "smoke"):
        assert 'no node has labels "pool=none"' in refused(busy, verb, "-l", "pool=none", code=2)


def test_capacity_counts_nodes_by_label_and_waits_by_namespace(busy: Cluster) -> None:
    pool = seen(busy, "capacity", "-l", "pool=train")
    assert [(row["key"], row["requested"]) for row in pool["rows"]] == [
        (node, holds(busy, node)) for node in sorted(NAMES)
    ]
    assert pool["total"][0]["requested"] == 2
    team, default = seen(busy, "capacity", "-n", TEAM), seen(busy, "capacity", "-n", "default")
    assert team["total"] == default["total"], "another team's pods are held all the same"
    assert team["waiting"] != []
    assert default["waiting"] == []
    assert "namespace/nowhere is not there" in refused(busy, "capacity", "-n", "nowhere", code=2)


def holds(cluster: Cluster, node: str) -> int:
    """GPUs that pods of the tests hold on a node, each pod one."""
    pods = json.loads(cluster.kubectl("get", "pods", "-A", "-o", "json"))["items"]
    asking = [p for p in pods if p["spec"]["containers"][0]["resources"].get("limits", {}).get("nvidia.com/gpu")]
    return sum(p["spec"].get("nodeName") == node for p in asking)


def test_what_if_tells_the_pods_of_a_namespace_and_counts_the_others(busy: Cluster) -> None:
    drain = ("what-if", "--drain", "gpu-a")
    default = seen(busy, *drain, "-n", "default", code=3)
    assert [fate["pod"] for fate in default["lost"]] == ["one"]
    team, everyone = seen(busy, *drain, "-n", TEAM, code=3), seen(busy, *drain, "-A", code=3)
    assert team["lost"] == []
    assert any("other namespaces" in text for text in team["leftOut"])
    assert everyone["lost"] == default["lost"]
    assert team["after"] == default["after"] == everyone["after"]


def test_smoke_tries_the_nodes_that_labels_name(busy: Cluster) -> None:
    free = next(node for node in NAMES if holds(busy, node) < 2)
    done = ask("smoke", "-l", f"kubernetes.io/hostname={free}", "-n", TEAM, "--kubeconfig", busy.kubeconfig)
    assert (done.returncode, done.stdout.split()[:2]) == (0, ["passed", free]), done.stdout + done.stderr
    assert f"makes 1 pod in namespace {TEAM}" in done.stderr


def test_lint_judges_the_workloads_that_labels_name(busy: Cluster) -> None:
    assert sorted(seen(busy, "lint", "-l", "app=train", "-A")["linted"]) == ["pod/one -n default", f"pod/two -n {TEAM}"]
    assert seen(busy, "lint", "-l", "app=infer", "-n", TEAM)["linted"] == [f"deployment/infer -n {TEAM}"]
    said = refused(busy, "lint", "-l", "app=infer", "-n", "default", code=2)
    assert 'no workload has labels "app=infer" in default' in said


# --- what others may not see


def test_who_may_only_get_pods_is_told_what_that_hides(busy: Cluster) -> None:
    report = seen(busy, "why", "pod/two", "-n", TEAM, "--as", READER, code=4)
    assert report["verdict"] == "unknown"
    assert report["findings"][0]["id"] == "scheduling/unexplained", "the scheduler's words are in the pod"
    lacking = json.dumps(report["notChecked"])
    for permission in ("list on nodes", "list on pods in the whole cluster", f"list on events in namespace {TEAM}"):
        assert f"RBAC: {permission}" in lacking
    assert seen(busy, "lint", "pod/two", "-n", TEAM, "--as", READER)["linted"] == [f"pod/two -n {TEAM}"]
    group = ("--as", "somebody", "--as-group", "system:masters")
    assert causes(seen(busy, "why", "pod/two", "-n", TEAM, *group, code=3)) == ["scheduling/other-resource"]


@pytest.mark.parametrize(
    ("asked", "lacks"),
    [
        (("why", "pod/one", "-n", "default"), 'cannot get resource "pods"'),
        (("why", "-l", "app=train", "-n", TEAM), f"RBAC: list on pods in namespace {TEAM}"),
        (("why", "-l", "app=train", "-A"), "RBAC: list on pods in the whole cluster"),
        (("why",), "RBAC: list on nodes"),
        (("why", "deploy/infer", "-n", TEAM), 'cannot get resource "deployments"'),
        (("survey",), "RBAC: list on nodes"),
        (("capacity",), "RBAC: list on nodes"),
        (("what-if", "--drain", "gpu-a"), "RBAC: list on nodes"),
        (("fit", "--gpus", "1"), "RBAC: list on nodes"),
        (("smoke", "--node", "gpu-a"), "RBAC: list on nodes"),
        (("lint", "-l", "app=train", "-n", TEAM), 'cannot list resource "pods"'),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_may_not_be_read_at_all_is_said_with_the_permission(
    busy: Cluster, asked: tuple[str, ...], lacks: str
) -> None:
    said = refused(busy, *asked, "--as", READER)
    assert REFUSED in said and lacks in said


# --- a server that does not answer


def test_a_server_that_hangs_is_given_up_after_the_time_that_was_asked_for(busy: Cluster) -> None:
    control = Supervisor(busy.folder / "control/supervisor.sock")
    control.freeze("kube-apiserver")
    try:
        for asked in (("why", "pod/two", "-n", TEAM), ("survey",), ("capacity",)):
            said = refused(busy, *asked, "--request-timeout", "1s")
            assert "no answer from the API server" in said
    finally:
        control.thaw("kube-apiserver")
    busy.wait_for(lambda: busy.kubectl("get", "--raw", "/readyz", check=False) == "ok", "the API server answers again")
    assert seen(busy, "why", "pod/one", "-n", "default", "--request-timeout", "1m")["findings"] == []
    assert '"soon" is no duration' in refused(busy, "why", "--request-timeout", "soon", code=2)


# --- other forms


VERBS = {
    ("why", "-l", "app=train", "-A"): 3,
    ("survey", "-n", TEAM): 3,
    ("capacity", "-l", "pool=train"): 0,
    ("what-if", "--drain", "gpu-a"): 3,
    ("fit", "--gpus", "1"): 0,
    ("lint", "-l", "app=train", "-A"): 0,
    ("smoke", "-l", "pool=train", "--dry-run"): 0,
}


@pytest.mark.parametrize("asked", VERBS, ids=" ".join)
def test_yaml_is_the_json_in_another_form_and_markdown_is_told_too(busy: Cluster, asked: tuple[str, ...]) -> None:
    where = (*asked, "--kubeconfig", busy.kubeconfig)
    plain = seen(busy, *asked, code=VERBS[asked])
    other, told = ask(*where, "-o", "yaml"), ask(*where, "-o", "markdown")
    document = yaml.safe_load(other.stdout)
    assert (document["kind"], document.keys()) == (plain["kind"], plain.keys())
    assert other.returncode == told.returncode
    assert told.stdout.strip().startswith(("**", "#", "|", "```"))


@pytest.mark.parametrize("verb", ["why", "survey"])
def test_html_is_one_file(busy: Cluster, verb: str) -> None:
    shown = ask(verb, "-n", TEAM, "-o", "html", "--kubeconfig", busy.kubeconfig)
    assert (shown.returncode, shown.stdout[:15].lower()) == (3, "<!doctype html>"), shown.stderr
    assert f"{TEAM}/two" in shown.stdout
    assert "http://" not in shown.stdout.replace("http://www.w3.org/", "")
