"""Waivers as a person uses them: `lockgate.yaml` of the folder or `--waivers`, for `why`, `survey` and `lint`."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_collect import NOBODY
from tests.cli.test_why import BUNDLES, SCHEMA, run, violations
from tests.collect.test_live import Recorded, ask_of

SICK = ("node/gpu-a", "--from", str(BUNDLES / "unhealthy.tgz"))
REPORT = json.loads(run("why", *SICK, "-o", "json").stdout)
CAUSE = REPORT["findings"][0]["id"]
KNOWN = f"""
waivers:
  - {{id: {CAUSE}, where: '*', reason: RMA 4711, until: 2099-12-31}}
"""


def written(folder: Path, text: str) -> str:
    path = folder / "lockgate.yaml"
    path.write_text(text)
    return str(path)


def test_a_waived_finding_is_shown_and_the_exit_code_is_as_if_it_were_absent(tmp_path: Path) -> None:
    waivers = written(tmp_path, KNOWN)
    plain, waived = run("why", *SICK), run("why", *SICK, "--waivers", waivers)
    assert (plain.returncode, waived.returncode) == (3, 0), waived.stdout
    assert waived.stdout.startswith("HEALTHY")
    assert f"Waived\n  {CAUSE}" in waived.stdout
    assert "RMA 4711 (waived until 2099-12-31 by lockgate.yaml 1)" in waived.stdout
    report = json.loads(run("why", *SICK, "--waivers", waivers, "-o", "json").stdout)
    assert violations(report, SCHEMA) == []
    assert report["waived"][0]["until"] == "2099-12-31"
    assert "### Waived" in run("why", *SICK, "--waivers", waivers, "-o", "markdown").stdout


def test_an_expired_waiver_is_said_and_counts_no_more(tmp_path: Path) -> None:
    waivers = written(tmp_path, KNOWN.replace("2099", "2020"))
    result = run("why", *SICK, "--waivers", waivers)
    assert result.returncode == 3
    assert f"Waivers without effect\n  lockgate.yaml 1: {CAUSE} at *" in result.stdout
    assert "expired on 2020-12-31" in result.stdout


def test_the_file_of_the_current_folder_is_read_without_being_named(tmp_path: Path) -> None:
    written(tmp_path, KNOWN)
    command = [sys.executable, "-m", "lockgate.cli.main", "survey", "--from", str(BUNDLES / "unhealthy.tgz")]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    # The pod that cannot have its GPU is not blamed on anything, and does not run all the same.
    assert result.returncode == 4, result.stdout
    assert "WAITING  the cluster" in result.stdout
    assert max(len(line) for line in result.stdout.splitlines()) <= 100
    assert f"WAIVED\n  {CAUSE}: RMA 4711" in result.stdout


def test_lint_knows_the_same_file(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(
        'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd]\n  default_runtime_name = "nvidia"\n'
    )
    plain = run("lint", str(config), "--release", "1.7.27", "-o", "json")
    (finding,) = {f["id"] for f in json.loads(plain.stdout)["findings"]}
    waivers = written(tmp_path, f"waivers:\n  - {{id: {finding}, where: '*/config.toml', reason: on purpose}}\n")
    waived = run("lint", str(config), "--release", "1.7.27", "--waivers", waivers)
    assert (plain.returncode, waived.returncode) == (3, 0), waived.stdout
    assert f"suppressed: {finding} (on purpose (lockgate.yaml 1))" in waived.stdout
    written(tmp_path, f"waivers:\n  - {{id: {finding}, reason: on purpose, until: 2020-01-01}}\n")
    expired = run("lint", str(config), "--release", "1.7.27", "--waivers", waivers)
    assert (expired.returncode, f"{finding} at * -- on purpose: expired on 2020-01-01" in expired.stderr) == (3, True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("waivers: [{id: devices/unhealthy}]", "waiver 1: devices/unhealthy: has no reason"),
        ("waivers: [{id: a, reason: b, till: c}]", 'waiver 1: "till" is not known'),
        ("waivers: [{reason: b}]", "waiver 1: has no id"),
        ("waivers: [{id: a, reason: b, until: soon}]", 'until "soon" is no date'),
        ("waivers: 3", "expected a list `waivers:`"),
        ("waivers: [", "is neither JSON nor YAML"),
    ],
)
def test_a_file_that_is_wrong_says_where(text: str, says: str, tmp_path: Path) -> None:
    result = run("why", *SICK, "--waivers", written(tmp_path, text))
    assert (result.returncode, result.stdout) == (2, "")
    assert says in result.stderr


MISSPELT = CAUSE.replace("/", "/x-")


def test_an_id_that_no_rule_has_is_said_with_the_one_that_is_meant(tmp_path: Path) -> None:
    text = KNOWN.replace(CAUSE, MISSPELT) + "  - {id: 'manifest/*', reason: of lint}\n  - {id: no-such-*, reason: x}\n"
    result = run("why", *SICK, "--waivers", written(tmp_path, text))
    assert result.returncode == 3
    said = " ".join(result.stdout.split())
    assert f"lockgate.yaml 1: {MISSPELT} at * -- RMA 4711: no finding has this id; did you mean {CAUSE}" in said
    assert "lockgate.yaml 3: no-such-* at * -- x: no finding has this id; `explain` alone lists what there is" in said
    assert "lockgate.yaml 2" not in said
    looked = run("survey", *SICK[1:], "--waivers", written(tmp_path, text))
    assert f"without effect: lockgate.yaml 1: {MISSPELT}" in looked.stdout
    for verb in (("why", *SICK), ("survey", *SICK[1:])):
        page = run(*verb, "--waivers", str(tmp_path / "lockgate.yaml"), "-o", "markdown").stdout
        assert f"### Waivers without effect\n\n- lockgate.yaml 1: {MISSPELT}" in page


def test_lint_says_it_too(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("version = 2\n")
    waivers = written(tmp_path, "waivers: [{id: containerd/cdi-of, reason: x}, {id: devices/unhealthy, reason: y}]")
    result = run("lint", str(tmp_path / "config.toml"), "--release", "1.7.27", "--waivers", waivers)
    (line,) = result.stderr.splitlines()
    assert line.startswith(
        "lockgate: lockgate.yaml 1: containerd/cdi-of at * -- x: no finding has this id; did you mean"
    )
    assert "containerd/cdi-off" in line


@pytest.mark.parametrize(
    ("text", "hint"),
    [("waiver: []", 'is "waiver" meant to be it?'), ("image: {tag: v1}", "of id, where, reason, until")],
)
def test_a_file_without_the_list_is_refused_where_it_is_named_and_said_where_it_is_only_there(
    text: str, hint: str, tmp_path: Path
) -> None:
    path = written(tmp_path, text)
    named = run("why", *SICK, "--waivers", path)
    assert (named.returncode, named.stdout) == (2, "")
    command = [sys.executable, "-m", "lockgate.cli.main", "why", *SICK]
    there = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (there.returncode, "Cause" in there.stdout) == (3, True)
    for said in (named.stderr, there.stderr):
        assert "lockgate.yaml: waives nothing, since it has no list `waivers:`" in said
        assert hint in said
        assert said.count("\n") == 1


def test_an_empty_list_waives_nothing_and_is_no_fault(tmp_path: Path) -> None:
    result = run("why", *SICK, "--waivers", written(tmp_path, "waivers: []"))
    assert (result.returncode, result.stderr) == (3, "")


def test_a_file_that_is_named_has_to_be_there() -> None:
    result = run("why", *SICK, "--waivers", "/no/such.yaml")
    assert (result.returncode, "there is no such file" in result.stderr) == (2, True)


def test_a_live_namespace_waives_what_is_in_it(tmp_path: Path) -> None:
    cluster = Recorded(BUNDLES / "all-held-installed.tgz", NOBODY)
    own = next(n for n in cluster._objects["namespaces"] if n["metadata"]["name"] == "default")
    own["metadata"]["annotations"] = {"lockgate.dev/waive": "scheduling/all-held -- these jobs wait by design"}
    _, report, _, _ = asyncio.run(ask_of(tmp_path, cluster, "pod/late", "-n", "default"))
    assert [w["reason"] for w in report["waived"] if w["finding"]["id"] == "scheduling/all-held"] == [
        "these jobs wait by design"
    ]
    assert report["verdict"] == "waiting"
