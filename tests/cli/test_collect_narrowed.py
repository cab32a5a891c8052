"""`collect -n` and `-l`: no log and no event of others' pods is in the bundle, every number is; the reader is told."""

import asyncio
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_collect import NOBODY, gather, manifest_of
from tests.cli.test_why import run
from tests.collect.test_live import BUNDLES, Recorded, Refused


class Teams(Recorded):
    """A cluster where `ml` waits for GPUs that `web` holds; a pod of each has failed and says why in its log."""

    def __init__(self, refused: Refused = NOBODY) -> None:
        super().__init__(BUNDLES / "all-held-installed.tgz", refused)
        for pod, team in (("late", "ml"), ("a1", "ml"), ("a2", "web")):
            self._move(pod, team)
        for pod in ("a1", "a2"):
            self._fail(pod)
        self._objects["namespaces"] += [{"metadata": {"name": team}} for team in ("ml", "web")]

    def _move(self, pod: str, team: str) -> None:
        for each in (*self._objects["pods"], *self._objects["events"]):
            about = each.get("involvedObject", each["metadata"])
            if about["name"] == pod:
                each["metadata"]["namespace"] = about["namespace"] = team
                each["metadata"]["labels"] = {"app": pod}
                each["message"] = f"{each.get('message', '')} (words about {team}/{pod})"

    def _fail(self, name: str) -> None:
        pod = next(p for p in self._objects["pods"] if p["metadata"]["name"] == name)
        pod["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
        self._logs[f"{pod['metadata']['namespace']}/{name}/main"] = f"the log of {name}".encode()


def collected(folder: Path, *flags: str, refused: Refused = NOBODY) -> tuple[int, str, Path]:
    """`collect FLAGS` of the teams' cluster: exit code, progress, the bundle."""
    code, error, _ = asyncio.run(gather(folder, Teams(refused), *flags))
    return code, error, folder / "bundle.tgz"


def files_of(bundle: Path) -> dict[str, str]:
    with tarfile.open(bundle) as tar:
        files = ((info.name.partition("/")[2], tar.extractfile(info)) for info in tar if info.isfile())
        return {name: file.read().decode() for name, file in files if file is not None}


def seen(bundle: Path, *command: str) -> dict[str, Any]:
    result = run(*command, "--from", str(bundle), "-o", "json")
    assert result.stdout, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


ML = ("-n", "ml"), {"logs/ml/a1/main.log"}, "pods in namespace ml"
LATE = ("-l", "app in (late)"), set[str](), "pods with app in (late)"
A1 = ("-l", "app=a1", "-n", "ml"), {"logs/ml/a1/main.log"}, "pods with app=a1 in namespace ml"


@pytest.mark.parametrize(("flags", "own", "said"), [ML, LATE, A1], ids=["-n", "-l", "both"])
def test_logs_and_events_of_other_pods_are_not_in_it(
    flags: tuple[str, ...], own: set[str], said: str, tmp_path: Path
) -> None:
    code, error, bundle = collected(tmp_path, *flags)
    files = files_of(bundle)
    assert code == 0, error
    assert error.startswith(f"logs and events: only of {said}, of operands and of nodes; lists are whole\n")
    assert manifest_of(bundle)["narrowed"]["besides"] == ["gpu-operator"]
    logs = {name for name in files if name.startswith("logs/")}
    assert {name for name in logs if not name.startswith("logs/gpu-operator/")} == own
    assert any(name.startswith("logs/gpu-operator/") for name in logs)
    told = files["cluster/events.json"]
    assert ("words about ml/late" in told) == ("a1" not in said)
    assert "words about web" not in told
    about = {e["involvedObject"]["kind"] for e in json.loads(told)["items"]}
    assert {"Node", "DaemonSet"} <= about


def test_the_numbers_are_those_of_a_whole_bundle(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (_, _, own), (_, _, whole) = collected(tmp_path / "a", "-n", "ml"), collected(tmp_path / "b", "-n", "ml", "-A")
    assert "narrowed" not in run("bundle", "show", str(whole), "-o", "json").stderr
    assert seen(own, "capacity") == seen(whole, "capacity")
    assert manifest_of(whole)["narrowed"] == {"namespace": "", "selector": "", "besides": []}
    assert "logs/web/a2/main.log" in files_of(whole)


def test_what_was_asked_for_is_answered_as_from_a_whole_bundle_and_of_others_it_says_what_lacks(tmp_path: Path) -> None:
    _, _, bundle = collected(tmp_path, "-n", "ml")
    late = seen(bundle, "why", "pod/late", "-n", "ml")
    assert [f["id"] for f in late["findings"] if not f["follows"]] == ["scheduling/all-held"]
    other = seen(bundle, "why", "pod/a2", "-n", "web")
    assert "gathered only for pods in namespace ml" in json.dumps(other["notChecked"])
    assert "no event names" not in json.dumps(other["ruledOut"])


def test_show_says_whose_pods_it_is_about(tmp_path: Path) -> None:
    _, _, bundle = collected(tmp_path, "-l", "app=late")
    result = run("bundle", "show", str(bundle))
    assert "Logs and events are only of pods with app=late, of operands and of nodes" in result.stdout
    assert seen_contents(bundle)["narrowed"] == "pods with app=late"


def seen_contents(bundle: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(run("bundle", "show", str(bundle), "-o", "json").stdout)
    return document


def test_who_may_read_one_namespace_alone_gets_that_and_is_told(tmp_path: Path) -> None:
    code, error, bundle = collected(tmp_path, "-n", "ml", refused=lambda plural, namespace, name: namespace != "ml")
    assert code == 4
    assert "pods: 2 of namespace ml, others not read (RBAC: list on pods in the whole cluster)" in error
    sections = {s["name"]: s for s in seen_contents(bundle)["sections"]}
    assert sections["pods"]["missing"].startswith("only of namespace ml: ")
    assert "nodes" in sections
    late = seen(bundle, "why", "pod/late", "-n", "ml")
    assert [f["id"] for f in late["findings"] if not f["follows"]] == ["scheduling/unexplained"]
    assert "only of namespace ml" in json.dumps(late["notChecked"])


def test_where_no_pod_may_be_read_labels_are_not_called_wrong(tmp_path: Path) -> None:
    code, error, bundle = collected(
        tmp_path, "-l", "app=late", refused=lambda plural, namespace, name: plural == "pods"
    )
    assert (code, bundle.exists()) == (4, True), error
    assert manifest_of(bundle)["sections"]["pods"]["how"] == "RBAC: list on pods in the whole cluster"


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (("-n", "wbe"), "namespace/wbe is not there; did you mean web?"),
        (("-l", "app=none"), "there are no pods with app=none: see `kubectl get pods -A --show-labels`"),
        (("-l", "app=a2", "-n", "ml"), "there are no pods with app=a2 in namespace ml"),
        (("-l", "=="), '"==" is no label selector'),
    ],
)
def test_what_nobody_has_is_said_and_nothing_is_written(flags: tuple[str, ...], says: str, tmp_path: Path) -> None:
    code, error, bundle = collected(tmp_path, *flags)
    assert (code, says in error, bundle.exists()) == (2, True, False), error
