"""`fit` on recorded bundles: verdict, place, blockers, changes, exit codes."""

import json
from pathlib import Path

import pytest

from lockgate.cli.main import main

BUNDLES = Path(__file__).parents[1] / "bundles"
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: infer, namespace: ml}
spec:
  replicas: 3
  template:
    spec:
      containers:
      - name: c
        resources: {limits: {nvidia.com/gpu: 1}}
"""


def test_it_fits_and_says_where(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--gpus", "2", "--from", str(BUNDLES / "healthy.tgz")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["FITS  a pod of 2 nvidia.com/gpu", "Where: node-a"]


def test_what_blocks_each_node_is_counted_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--gpus", "2", "--from", str(BUNDLES / "all-held.tgz")]) == 3
    out = capsys.readouterr().out
    assert out.startswith("DOES NOT FIT  a pod of 2 nvidia.com/gpu\n")
    assert "  2  nvidia.com/gpu: 2 asked, 0 left of 2: node-a, node-b\n" in out


def test_a_workload_from_a_file_brings_its_replicas(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "deploy.yaml"
    file.write_text(DEPLOYMENT)
    assert main(["fit", "-f", str(file), "--from", str(BUNDLES / "healthy.tgz"), "-o", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["kind"], answer["fits"], answer["wanted"], answer["copies"]) == ("Fit", True, 3, 3)
    assert answer["asked"] == {"nvidia.com/gpu": 1}
    assert answer["where"] == {"node-a": 2, "node-b": 1}


def test_more_copies_than_fit_are_counted_and_asking_less_is_offered(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--gpus", "3", "--from", str(BUNDLES / "healthy.tgz")]) == 3
    assert "  1/1  ask for 2 nvidia.com/gpu instead of 3\n" in capsys.readouterr().out
    assert main(["fit", "--gpus", "1", "--copies", "9", "--from", str(BUNDLES / "healthy.tgz")]) == 3
    assert capsys.readouterr().out.startswith("DOES NOT FIT  3 of 9 copies of 1 nvidia.com/gpu fit now\n")


def test_memory_is_asked_of_the_nodes_label(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "--gpus", "1", "--memory", "15Gi", "--from", str(BUNDLES / "healthy.tgz")]) == 0
    assert main(["fit", "--gpus", "1", "--memory", "40Gi", "--from", str(BUNDLES / "healthy.tgz")]) == 3
    assert "nvidia.com/gpu.memory > 40959 wanted, it has 15360" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--mig", "9q"], "is not a MIG profile"),
        (["--gpus", "1", "--memory", "much"], "is not a Kubernetes quantity"),
        (["--gpus", "1", "--memory", "40"], '"40" is 40 bytes, no memory of a GPU (expected for example 40Gi)'),
        (["-f", "/nowhere.yaml"], "/nowhere.yaml"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert main(["fit", *arguments, "--from", str(BUNDLES / "healthy.tgz")]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["--gpus", "0"], ["--gpus", "half"], ["--gpus", "1", "--mig", "1g.5gb"]])
def test_bad_usage_ends_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["fit", *arguments])
    assert ended.value.code == 2


def test_a_file_of_another_kind_says_what_is_expected(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "service.yaml"
    file.write_text("kind: Service\nmetadata: {name: x}\n")
    assert main(["fit", "-f", str(file), "--from", str(BUNDLES / "healthy.tgz")]) == 2
    assert (
        "holds Service; expected a Pod, Deployment, ReplicaSet, StatefulSet, Job, CronJob or another"
        in capsys.readouterr().err
    )


def test_a_pod_that_requests_nothing_is_said_to(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text("kind: Pod\nspec: {containers: [{name: c}]}\n")
    assert main(["fit", "-f", str(file), "--from", str(BUNDLES / "healthy.tgz")]) == 0
    assert capsys.readouterr().out.startswith("FITS  a pod of no GPU, cpu or memory (it requests nothing)\n")


def test_what_was_not_decided_is_said_and_ends_with_4(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text("kind: Pod\nspec: {schedulerName: kai-scheduler, containers: [{name: c}]}\n")
    assert main(["fit", "-f", str(file), "--from", str(BUNDLES / "healthy.tgz")]) == 4
    out = capsys.readouterr().out
    assert out.startswith("FITS AS FAR AS IS KNOWN")
    assert 'scheduler "kai-scheduler" decides by rules of its own' in out


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("{containers: [{name: m, resources: {limits: {nvidia.com/gpu: '0.5'}}}]}", "m asks for 0.5 of nvidia.com/gpu"),
        ("{runtimeClassName: nope, containers: [{name: m}]}", 'RuntimeClass "nope" not found; there is nvidia'),
    ],
)
def test_what_the_api_server_takes_from_nobody_is_refused_and_not_placed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, spec: str, says: str
) -> None:
    file = tmp_path / "pod.yaml"
    file.write_text(f"kind: Pod\nspec: {spec}\n")
    source = ["--from", str(BUNDLES / "healthy.tgz")]
    assert main(["fit", "-f", str(file), *source]) == 3
    out = capsys.readouterr().out
    assert out.startswith("REFUSED  the API server takes no such pod")
    assert says in out
    assert main(["fit", "-f", str(file), *source, "-o", "json"]) == 3
    answer = json.loads(capsys.readouterr().out)
    assert (answer["fits"], answer["copies"], len(answer["refused"])) == (False, 0, 1)


def test_the_answer_says_what_else_the_file_holds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "all.yaml"
    file.write_text(f"{DEPLOYMENT}---\nkind: Pod\nmetadata: {{name: other}}\nspec: {{containers: [{{name: c}}]}}\n")
    assert main(["fit", "-f", str(file), "--from", str(BUNDLES / "healthy.tgz"), "-o", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["wanted"] == 3
    assert answer["leftOut"][-1] == f"of {file}, Pod other: only Deployment infer was asked about"
