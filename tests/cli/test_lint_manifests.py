"""`lint` of manifests as a user runs it: file, folder, standard input, charts, formats, edits, suppressions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_lint import NVIDIA, lint, sarif_faults

POD = """\
# a team's pod
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  containers:
  - name: train
    image: registry.example/train:1
    env:
    - name: NVIDIA_VISIBLE_DEVICES
      value: all
    - name: LEVEL
      value: debug
    resources:
      requests:
        nvidia.com/gpu: 1  # one
"""
HEALED = """\
# a team's pod
apiVersion: v1
kind: Pod
metadata:
  name: train
spec:
  containers:
  - name: train
    image: registry.example/train:1
    env:
    - name: LEVEL
      value: debug
    resources:
      requests:
        nvidia.com/gpu: 1  # one
      limits:
        nvidia.com/gpu: 1
"""
QUOTA = 'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {nvidia.com/gpu: "4"}}\n'


def ids(text: str) -> list[str]:
    return [finding["id"] for finding in json.loads(text)["findings"]]


@pytest.fixture
def app(tmp_path: Path) -> Path:
    (tmp_path / "app.yaml").write_text(POD)
    return tmp_path


def test_a_finding_has_the_line_and_the_file_as_it_was_typed(app: Path) -> None:
    answer = lint("app.yaml", cwd=app)
    assert (answer.returncode, answer.stderr) == (3, "")
    assert "error[manifest/request-without-limit]: A container requests a GPU and has no limit of it" in answer.stdout
    assert "--> app.yaml:17\n17 |         nvidia.com/gpu: 1  # one\n" in answer.stdout
    assert "--> app.yaml:11\n" in answer.stdout
    assert answer.stdout.endswith("1 error, 1 warning; --fix heals 2 (1 file)\n")
    assert max(len(line) for line in answer.stdout.splitlines()) <= 100


def test_fix_heals_what_diff_shows_and_touches_no_other_character(app: Path) -> None:
    diff = lint("app.yaml", "--diff", cwd=app)
    assert diff.returncode == 3
    assert (app / "app.yaml").read_text() == POD
    fixed = lint("app.yaml", "--fix", cwd=app)
    assert (fixed.returncode, fixed.stderr) == (0, "wrote app.yaml\n")
    assert (app / "app.yaml").read_text() == HEALED
    (app / "app.yaml").write_text(POD)
    subprocess.run(["patch", "-p0"], input=diff.stdout, text=True, cwd=app, check=True, capture_output=True)
    assert (app / "app.yaml").read_text() == HEALED
    assert lint("app.yaml", "--fix", cwd=app).stderr == "", "a second --fix writes nothing"


@pytest.mark.parametrize("output", ["sarif", "json", "junit"])
def test_every_format_knows_manifests(app: Path, output: str) -> None:
    answer = lint("app.yaml", "-o", output, cwd=app)
    assert answer.returncode == 3
    assert "manifest" in answer.stdout
    if output == "sarif":
        log = json.loads(answer.stdout)
        assert sarif_faults(log) == []
        assert {rule["properties"]["tags"][0] for rule in log["runs"][0]["tool"]["driver"]["rules"]} == {"manifest"}


def test_a_folder_is_looked_through_and_what_is_no_manifest_is_left_out(app: Path) -> None:
    (app / "deep/er").mkdir(parents=True)
    (app / "deep/er/quota.yml").write_text(QUOTA)
    (app / "deep/list.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [{"kind": "x"}]}))
    (app / "values.yaml").write_text("gpus: 0.5\nresources: {limits: {nvidia.com/gpus: 1}}\n")
    (app / ".git").mkdir()
    (app / ".git/x.yaml").write_text(POD)
    (app / "package.json").write_text('{"name": "x"}')
    answer = lint(".", "-o", "json", cwd=app)
    assert answer.returncode == 3
    assert sorted(ids(answer.stdout)) == [
        "manifest/device-variable",
        "manifest/quota-key",
        "manifest/request-without-limit",
    ]
    assert json.loads(answer.stdout)["linted"] == ["app.yaml", "deep/list.json", "deep/er/quota.yml"]


def test_standard_input_may_hold_many_documents() -> None:
    text = f"{POD}---\n{QUOTA}---\n# nothing\n---\n{POD.replace('name: train', 'name: other')}"
    answer = _piped(text, "-", "-o", "json")
    assert answer.returncode == 3
    found = json.loads(answer.stdout)["findings"]
    assert [f["lines"][0]["line"] for f in found if f["id"] == "manifest/request-without-limit"] == [17, 42]
    assert {line["file"] for f in found for line in f["lines"]} == {"stdin"}
    fix = _piped(text, "-", "--fix")
    assert (fix.returncode, fix.stdout) == (2, "")
    assert "--fix writes files of this machine, not of stdin" in fix.stderr
    assert "+++ stdin" in _piped(text, "-", "--diff").stdout


def _piped(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lockgate.cli.main", "lint", *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, env={**os.environ})


def test_json_stays_json(tmp_path: Path) -> None:
    container = {"name": "a", "image": "x:1", "resources": {"requests": {"nvidia.com/gpu": 1}}}
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"containers": [container]}}
    for indent in (None, 2):
        (tmp_path / "pod.json").write_text(json.dumps(manifest, indent=indent))
        assert lint("pod.json", "--fix", cwd=tmp_path).returncode == 0
        fixed = json.loads((tmp_path / "pod.json").read_text())
        amounts = {"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 1}}
        assert fixed["spec"]["containers"][0]["resources"] == amounts


def test_lines_end_as_they_did(app: Path) -> None:
    (app / "app.yaml").write_bytes(POD.replace("\n", "\r\n").encode())
    assert lint("app.yaml", "--fix", cwd=app).returncode == 0
    assert (app / "app.yaml").read_bytes() == HEALED.replace("\n", "\r\n").encode()


def test_a_charts_templates_are_not_judged_and_it_is_said_how_to(tmp_path: Path) -> None:
    (tmp_path / "chart/templates").mkdir(parents=True)
    (tmp_path / "chart/Chart.yaml").write_text("apiVersion: v2\nname: x\n")
    (tmp_path / "chart/templates/pod.yaml").write_text("apiVersion: v1\nkind: Pod\nspec: {{ .Values.spec }}\n")
    answer = lint("chart", cwd=tmp_path)
    assert answer.returncode == 4
    said = " ".join(answer.stdout.split())
    assert "not checked: chart: its templates are not rendered; to know it: render it first: `helm template" in said


def test_a_file_that_is_no_yaml_is_said_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "broken.yaml").write_text("apiVersion: v1\nkind: Pod\nspec: {containers: [\n")
    answer = lint("broken.yaml", cwd=tmp_path)
    assert answer.returncode == 4
    assert "not checked: broken.yaml: line 4: " in answer.stdout


def test_a_comment_with_a_reason_and_an_ignore_suppress(app: Path) -> None:
    comment = "    # lockgate: ignore manifest/device-variable -- bench\n"
    entry = "    - name: NVIDIA_VISIBLE"
    (app / "app.yaml").write_text(POD.replace(entry, comment + entry))
    quiet = lint("app.yaml", "--ignore", "manifest/request-*", cwd=app)
    assert quiet.returncode == 0
    assert "suppressed: manifest/device-variable (bench)" in quiet.stdout


def test_nodes_and_manifests_may_be_named_together(app: Path) -> None:
    (app / "etc").mkdir()
    (app / "etc/config.toml").write_text(NVIDIA.replace("io.containerd.runc.v2", ""))
    answer = lint("app.yaml", "etc", "--release", "1.7.24", "-o", "json", cwd=app)
    assert {name.partition("/")[0] for name in ids(answer.stdout)} == {"containerd", "manifest"}


def test_cdi_specifications_beside_manifests_are_told_apart(app: Path) -> None:
    (app / "cdi.yaml").write_text("cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: []\n")
    answer = lint("app.yaml", "cdi.yaml", "-o", "json", cwd=app)
    assert {name.partition("/")[0] for name in ids(answer.stdout)} == {"cdi", "manifest"}


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]\napiVersion: v1\n",
        "apiVersion: v1\nkind: Pod\n"
        + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" if n else "a0: &a0 x\n" for n in range(12)),
        "apiVersion: v1\nkind: " + "[" * 2000 + "\n",
    ],
)
def test_bombs_end_in_a_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "bomb.yaml").write_text(text)
    answer = lint("bomb.yaml", cwd=tmp_path)
    assert answer.returncode == 4, answer.stderr
    assert "not checked: bomb.yaml" in answer.stdout


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (b"apiVersion: v1\nkind: [\n", 4, "correct that line"),
        (b"apiVersion: v1\nname: {{ .Values.name }}: x\n", 4, "render it first"),
        (b"\x1f\x8b\x08\xff\xfe", 2, "stdin: is not text"),
    ],
)
def test_what_cannot_be_read_from_standard_input_is_told_for_what_it_is(text: bytes, code: int, said: str) -> None:
    command = [sys.executable, "-m", "lockgate.cli.main", "lint", "-"]
    result = subprocess.run(command, input=text, capture_output=True, timeout=60, check=False)
    told = " ".join((result.stdout + result.stderr).decode().split())
    assert (result.returncode, said in told) == (code, True), told


def test_a_file_that_cannot_be_read_keeps_nobody_from_judging_the_others(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    (tmp_path / "gone.yaml").symlink_to("nowhere.yaml")
    (tmp_path / "round.yaml").symlink_to("round.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")
    result = lint(str(tmp_path))
    said = " ".join(result.stdout.split())
    assert result.returncode == 3
    assert "manifest/request-without-limit" in said
    assert f"not checked: {tmp_path}/gone.yaml: cannot be read (No such file or directory)" in said
    assert "pipe.yaml: is no regular file; to know it: put a copy of it there" in said
    assert "round.yaml: cannot be read" in said
    assert "render it first" not in said
