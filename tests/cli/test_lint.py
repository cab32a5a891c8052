"""`lint` as a user runs it: exit codes, streams, width, formats, diffs, fixes, suppressions, what a path may be."""

import json
import os
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest

from tests.unpacking import unpack

BUNDLES = Path(__file__).parents[1] / "bundles"
SARIF = fastjsonschema.compile(
    json.loads((Path(__file__).parents[1] / "lint/sarif/sarif-schema-2.1.0.json").read_text())
)
CRI = 'plugins."io.containerd.grpc.v1.cri"'
ROOT = 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n'
NVIDIA = f"""version = 2
[{CRI}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[{CRI}.containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"
"""
REGISTRY = f'version = 2\n[{CRI}.registry]\nconfig_path = "/etc/containerd/certs.d"\n'


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """`lockgate ARGUMENTS` without anything of the caller's environment that could matter."""
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM", "KUBECONFIG", "COLUMNS")}
    return subprocess.run(
        [sys.executable, "-m", "lockgate.cli.main", *map(str, arguments)],
        env=clean,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def lint(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return run("lint", *arguments, cwd=cwd)


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder that stands for /etc/containerd, with the drop-in trap in it."""
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "config.toml").write_text(ROOT)
    (tmp_path / "conf.d/50-nvidia.toml").write_text(NVIDIA)
    (tmp_path / "conf.d/99-registry.toml").write_text(REGISTRY)
    (tmp_path / "containerd-version.txt").write_text("containerd github.com/containerd/containerd v1.7.24 88bf19b\n")
    return tmp_path


def files(folder: Path) -> dict[str, str]:
    return {str(p.relative_to(folder)): p.read_text() for p in sorted(folder.rglob("*.toml"))}


def test_the_trap_is_shown_with_the_lines_of_both_files(trap: Path) -> None:
    answer = lint(".", cwd=trap)
    assert (answer.returncode, answer.stderr) == (3, "")
    assert 'runtime "nvidia" of conf.d/50-nvidia.toml will not exist' in " ".join(answer.stdout.split())
    assert "--> conf.d/50-nvidia.toml:4\n4 | [" + CRI + ".containerd.runtimes.nvidia]\n  | ^^^^" in answer.stdout
    assert "--> conf.d/99-registry.toml:2\n" in answer.stdout
    assert answer.stdout.endswith("1 blocker; --fix heals 1 (3 files)\n")
    assert max(len(line) for line in answer.stdout.splitlines()) <= 100


def test_looking_and_diffing_write_nothing(trap: Path) -> None:
    before = files(trap)
    lint(".", cwd=trap)
    lint(".", "--diff", cwd=trap)
    assert files(trap) == before


def test_the_diff_is_one_that_patch_takes_and_it_heals(trap: Path) -> None:
    diff = lint(".", "--diff", cwd=trap)
    assert diff.returncode == 3
    assert diff.stdout.startswith("--- conf.d/99-registry.toml\n+++ conf.d/99-registry.toml\n")
    subprocess.run(["patch", "-p0"], input=diff.stdout, text=True, cwd=trap, check=True, capture_output=True)
    assert lint(".", cwd=trap).returncode == 0


def test_fix_writes_what_diff_shows_keeps_the_mode_and_is_done_once(trap: Path) -> None:
    (trap / "conf.d/99-registry.toml").chmod(0o640)
    fixed = lint(".", "--fix", cwd=trap)
    assert (fixed.returncode, fixed.stderr) == (0, "wrote conf.d/99-registry.toml\n")
    assert (trap / "conf.d/99-registry.toml").stat().st_mode & 0o777 == 0o640
    written = files(trap)
    again = lint(".", "--fix", cwd=trap)
    assert (again.returncode, again.stderr, files(trap)) == (0, "", written)
    handlers = json.loads(run("effective", trap, "-o", "json").stdout)["config"]["plugins"]
    assert "nvidia" in handlers["io.containerd.grpc.v1.cri"]["containerd"]["runtimes"]


def test_fix_writes_named_files_only(trap: Path) -> None:
    before = files(trap)
    assert lint("config.toml", "--release", "1.7.24", "--fix", cwd=trap).returncode == 3
    assert files(trap) == before
    assert lint("config.toml", "conf.d/99-registry.toml", "--release", "1.7.24", "--fix", cwd=trap).returncode == 0
    assert [name for name, text in files(trap).items() if text != before[name]] == ["conf.d/99-registry.toml"]


def test_fix_never_writes_through_a_link_that_leaves_the_folder(tmp_path: Path) -> None:
    outside = tmp_path / "theirs.toml"
    outside.write_text('disabled_plugins = ["cri"]\n')
    host = tmp_path / "host"
    (host / "etc/containerd").mkdir(parents=True)
    (host / "etc/containerd/config.toml").symlink_to(outside)
    lint(host, "--release", "1.7.24", "--fix")
    assert outside.read_text() == 'disabled_plugins = ["cri"]\n'


def test_a_nodes_own_folder_may_have_links_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "etc/containerd"
    (folder / "conf.d").mkdir(parents=True)
    (tmp_path / "srv").mkdir()
    (tmp_path / "srv/nvidia.toml").write_text(NVIDIA)
    (folder / "config.toml").write_text(ROOT)
    (folder / "conf.d/50-nvidia.toml").symlink_to("/srv/nvidia.toml")
    (folder / "conf.d/99-registry.toml").write_text(REGISTRY)
    (folder / "containerd-version.txt").write_text("v1.7.24\n")
    found = lint(folder)
    assert found.returncode == 3
    assert f"--> {tmp_path}/srv/nvidia.toml:4" in found.stdout
    assert lint(folder, "--fix").returncode == 0
    assert (folder / "conf.d/50-nvidia.toml").is_symlink()


def test_a_comment_with_a_reason_suppresses_and_one_without_is_told(trap: Path) -> None:
    place = trap / "conf.d/50-nvidia.toml"
    place.write_text("# lockgate: ignore containerd/dropin-overridden -- being moved this week\n" + NVIDIA)
    quiet = lint(".", cwd=trap)
    assert quiet.returncode == 0
    assert "suppressed: containerd/dropin-overridden (being moved this week)" in quiet.stdout
    place.write_text("# lockgate: ignore containerd/dropin-overridden\n" + NVIDIA)
    loud = lint(".", cwd=trap)
    assert loud.returncode == 3
    assert "warning[lint/ignored-without-reason]" in loud.stdout


def test_a_comment_counts_for_its_own_line_and_the_next_one_only(trap: Path) -> None:
    comment = "# lockgate: ignore containerd/dropin-overridden -- known\n"
    near = NVIDIA.replace(f"[{CRI}.containerd.runtimes.nvidia]", f"{comment}[{CRI}.containerd.runtimes.nvidia]")
    (trap / "conf.d/50-nvidia.toml").write_text(near)
    assert lint(".", cwd=trap).returncode == 0
    (trap / "conf.d/50-nvidia.toml").write_text(NVIDIA + "\n" + comment)
    assert lint(".", cwd=trap).returncode == 3


@pytest.mark.parametrize(
    ("ignore", "code"),
    [
        ("containerd/dropin-overridden", 0),
        ("containerd/*", 0),
        ("containerd/dropin-overridden=*/99-registry.toml", 0),
        ("containerd/dropin-overridden=*/other.toml", 3),
        ("containerd/cdi-off", 3),
    ],
)
def test_ignore_takes_an_id_and_a_path_pattern(trap: Path, ignore: str, code: int) -> None:
    assert lint(".", "--ignore", ignore, cwd=trap).returncode == code


def test_json_has_the_lines_and_the_exit_code(trap: Path) -> None:
    report = json.loads(lint(".", "-o", "json", cwd=trap).stdout)
    assert (report["apiVersion"], report["kind"], report["exitCode"]) == ("lockgate.dev/v1alpha1", "Lint", 3)
    (finding,) = report["findings"]
    assert finding["id"] == "containerd/dropin-overridden"
    assert [(line["file"], line["line"]) for line in finding["lines"]] == [
        ("conf.d/50-nvidia.toml", 4),
        ("conf.d/99-registry.toml", 2),
    ]


def test_sarif_is_valid_by_the_official_schema(trap: Path) -> None:
    log = json.loads(lint(".", "-o", "sarif", cwd=trap).stdout)
    assert sarif_faults(log) == []
    (run_,) = log["runs"]
    (result,) = run_["results"]
    assert (result["ruleId"], result["level"]) == ("containerd/dropin-overridden", "error")
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 4
    assert result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "conf.d/99-registry.toml"


def test_suppressed_results_of_sarif_say_so(trap: Path) -> None:
    log = json.loads(lint(".", "-o", "sarif", "--ignore", "containerd/*", cwd=trap).stdout)
    assert sarif_faults(log) == []
    assert [r["suppressions"][0]["kind"] for r in log["runs"][0]["results"]] == ["external"]


def sarif_faults(log: dict[str, Any]) -> list[str]:
    """What breaks the official schema of SARIF 2.1.0, or what the specification asks for besides (3.27.6, 3.30)."""
    try:
        SARIF(log)
    except fastjsonschema.JsonSchemaException as error:
        return [error.message]
    found: list[str] = []
    for run_ in log["runs"]:
        ids = [rule["id"] for rule in run_["tool"]["driver"]["rules"]]
        found += [] if len(ids) == len(set(ids)) else ["rule twice"]
        for result in run_["results"]:
            found += [] if ids[result["ruleIndex"]] == result["ruleId"] else ["ruleIndex"]
            for place in (*result["locations"], *result.get("relatedLocations", ())):
                region = place["physicalLocation"].get("region", {})
                found += [] if region.get("endColumn", 1) >= region.get("startColumn", 1) else ["region"]
    return found


@pytest.mark.parametrize(
    "break_it",
    [
        lambda log: log.pop("runs"),
        lambda log: log.update(surprise=1),
        lambda log: log["runs"][0]["results"][0].update(level="fatal"),
        lambda log: log["runs"][0]["results"][0].update(ruleIndex=-2),
        lambda log: log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].update(startLine=0),
        lambda log: log["runs"][0]["results"][0]["relatedLocations"][0].update(id="one"),
    ],
)
def test_the_official_schema_notices_what_does_not_fit(
    trap: Path, break_it: Callable[[dict[str, Any]], object]
) -> None:
    log = json.loads(lint(".", "-o", "sarif", cwd=trap).stdout)
    assert sarif_faults(log) == []
    break_it(log)
    assert sarif_faults(log) != []


def test_junit_is_xml_with_a_case_a_rule(trap: Path) -> None:
    suite = ET.fromstring(lint(".", "-o", "junit", cwd=trap).stdout).find("testsuite")
    assert suite is not None
    failed = [case.attrib["name"] for case in suite if case.find("failure") is not None]
    assert (suite.attrib["failures"], failed) == ("1", ["dropin-overridden"])
    assert int(suite.attrib["tests"]) == len(list(suite)) > 20


def test_warnings_alone_are_exit_4_and_so_is_an_unknown_release(trap: Path) -> None:
    (trap / "conf.d/99-registry.toml").rename(trap / "registry.toml.off")
    (trap / "config.d").mkdir()
    (trap / "config.d/x.toml").write_text("version = 2\n")
    assert lint(".", cwd=trap).returncode == 4
    (trap / "containerd-version.txt").unlink()
    unknown = lint(".", cwd=trap)
    assert unknown.returncode == 4
    assert "not checked: the containerd release is not known; to know it: give --release" in unknown.stdout


def test_a_file_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    name = '"\\u001b[31mred"'
    (tmp_path / "config.toml").write_text(f'version = 2\n[{CRI}.containerd.runtimes.{name}]\nruntime_type = ""\n')
    (tmp_path / "x\x1b.toml").touch()
    answer = lint(tmp_path / "config.toml", "--release", "2.1.9")
    assert answer.returncode == 3
    assert "?[31mred" in answer.stdout
    assert "\x1b" not in answer.stdout


def test_bad_input_is_one_line_and_exit_2(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for arguments, words in (
        ((), "give a PATH"),
        ((tmp_path / "none",), "there is no such file or folder"),
        ((tmp_path / "empty",), "holds no config.toml"),
        ((tmp_path, "--release", "one"), "no containerd release in 'one'"),
        ((tmp_path, "--release", "1.2.0"), "older than the oldest family known"),
        ((BUNDLES / "healthy.tgz", "--node", "nobody"), "holds no files of node nobody"),
    ):
        answer = lint(*arguments)
        assert (answer.returncode, answer.stdout) == (2, ""), arguments
        assert words in answer.stderr
        assert answer.stderr.count("\n") == 1


def test_of_a_node_with_another_runtime_it_is_said_why_nothing_is_judged(tmp_path: Path) -> None:
    body = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "gpu-c"}}
    body["status"] = {"nodeInfo": {"containerRuntimeVersion": "cri-o://1.34.2"}}
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster" / "nodes.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1", "items": [body]}))
    for node in ("gpu-a", "gpu-c"):
        (tmp_path / f"nodes/{node}/etc/containerd").mkdir(parents=True)
        (tmp_path / f"nodes/{node}/etc/containerd/config.toml").write_text("version = 2\n")
    answer = lint(tmp_path, "--node", "gpu-c")
    assert (answer.returncode, answer.stdout) == (2, "")
    assert "node gpu-c: it runs cri-o://1.34.2, whose configuration lint does not read" in answer.stderr


def test_a_bundle_is_judged_node_by_node() -> None:
    whole = lint(BUNDLES / "dropin-trap.tgz")
    assert whole.returncode == 3
    assert "on gpu-b" in whole.stdout
    assert lint(BUNDLES / "dropin-trap.tgz", "--node", "gpu-a").returncode == 0
    assert lint(BUNDLES / "dropin-trap.tgz", "--node", "gpu-b", "--fix").returncode == 2
    assert "+++ gpu-b:/etc/containerd/conf.d/" in lint(BUNDLES / "dropin-trap.tgz", "--diff").stdout


def test_a_node_of_which_a_file_lacks_is_not_judged_and_the_others_are(tmp_path: Path) -> None:
    unpack(BUNDLES / "dropin-trap.tgz", tmp_path)
    folder = tmp_path / "dropin-trap"
    (folder / "nodes/gpu-b/etc/containerd/conf.d/9.toml").symlink_to("/opt/9.toml")
    refused = lint(folder)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "node gpu-b: containerd's configuration not judged, as a part lacks" in refused.stderr
    assert lint(folder, "--node", "gpu-a").returncode == 0
    assert lint(folder, "--node", "gpu-b").returncode == 2


def test_a_healthy_bundle_of_a_node_with_our_toolkit_is_silent() -> None:
    assert lint(BUNDLES / "healthy-installed.tgz").stdout.startswith("nothing to say about")


def test_an_archive_of_a_folder_is_read_as_the_folder(trap: Path, tmp_path: Path) -> None:
    archive = tmp_path / "etc.tgz"
    with tarfile.open(archive, "w:gz") as tar:
        for name in ("config.toml", "conf.d/50-nvidia.toml", "conf.d/99-registry.toml", "containerd-version.txt"):
            tar.add(trap / name, f"etc/containerd/{name}")
    answer = lint(archive)
    assert answer.returncode == 3
    assert "containerd/dropin-overridden" in answer.stdout


def test_a_folder_for_the_root_tells_what_the_node_has(tmp_path: Path) -> None:
    (tmp_path / "etc/containerd").mkdir(parents=True)
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/runc").touch()
    config = tmp_path / "etc/containerd/config.toml"
    options = f'[{CRI}.containerd.runtimes.nvidia.options]\nBinaryName = "/usr/bin/{{}}"\n'
    config.write_text(NVIDIA + options.format("runc"))
    assert lint(tmp_path, "--release", "1.7.24").returncode == 0
    config.write_text(NVIDIA + options.format("nvidia-container-runtime"))
    for path in (tmp_path, config):
        gone = lint(path, "--release", "1.7.24")
        assert gone.returncode == 3
        assert "containerd/binary-missing" in gone.stdout


def test_files_newer_than_containerd_are_told_where_two_commands_outputs_lie_beside(trap: Path) -> None:
    (trap / "conf.d/99-registry.toml").unlink()
    (trap / "containerd-started.txt").write_text("ActiveEnterTimestamp=Sat 2026-11-28 20:00:00 UTC\n")
    listing = "2026-11-{} 20:00:00.120000000 +0000 /etc/containerd/{}\n"
    for day, code in (("28", 0), ("29", 4)):
        lines = listing.format("01", "config.toml") + listing.format(day, "conf.d/50-nvidia.toml")
        (trap / "containerd-files.txt").write_text(lines)
        answer = lint(".", cwd=trap)
        assert answer.returncode == code, answer.stdout
    assert "warning[containerd/newer-than-process]" in answer.stdout
    assert "runs since 2026-11-28 20:00:00 UTC" in answer.stdout
    assert "--> conf.d/50-nvidia.toml\n  = written 2026-11-29 20:00:00 UTC" in answer.stdout


@pytest.mark.parametrize(("hours", "code"), [(-24, 0), (24, 4)])
def test_on_the_node_itself_containerds_own_start_is_asked(hours: int, code: int) -> None:
    with tempfile.TemporaryDirectory(prefix="li-") as folder, socket.socket(socket.AF_UNIX) as server:
        place = Path(folder, "run/containerd")
        place.mkdir(parents=True)
        server.bind(str(place / "containerd.sock"))
        server.listen()
        config = Path(folder, "etc/containerd/config.toml")
        config.parent.mkdir(parents=True)
        config.write_text("version = 2\n")
        at = time.time() + hours * 3600
        os.utime(config, (at, at))
        answer = lint(folder, "--release", "1.7.24")
        assert answer.returncode == code, answer.stdout
        assert ("containerd/newer-than-process" in answer.stdout) == (code == 4)


def test_a_file_that_k3s_writes_anew_is_judged_by_its_template(tmp_path: Path) -> None:
    etc = tmp_path / "var/lib/rancher/k3s/agent/etc/containerd"
    etc.mkdir(parents=True)
    (etc / "config.toml").write_text(NVIDIA.replace("runtimes.nvidia]", "runtimes.nvidia-legacy]"))
    edited = lint(tmp_path, "--release", "1.7.24")
    assert edited.returncode == 3
    assert "error[containerd/generated-file-edited]" in edited.stdout
    (etc / "config.toml.tmpl").write_text('{{ template "base" . }}\n' + (etc / "config.toml").read_text())
    assert lint(tmp_path, "--release", "1.7.24").returncode == 0


def test_cdi_files_are_judged_without_a_release(tmp_path: Path) -> None:
    spec = tmp_path / "nvidia.yaml"
    spec.write_text("cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices: []\n")
    for path in (spec, tmp_path):
        answer = lint(path)
        assert answer.returncode == 3
        assert "error[cdi/invalid]" in answer.stdout
        assert "no devices" in answer.stdout


def test_what_lint_does_not_know_is_said_once_without_a_finding(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("replicas: 1\n")
    (tmp_path / "hostname").write_text("gpu-a\n")
    result = lint("values.yaml", "hostname", cwd=tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("lockgate: lint: values.yaml, hostname: nothing that lint knows")


def test_what_lint_does_not_know_hides_nothing_of_what_it_knows(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("replicas: 1\n")
    (tmp_path / "config.toml").write_text("version = 2\n")
    result = lint("values.yaml", "config.toml", "--release", "2.1.9", cwd=tmp_path)
    assert (result.returncode, "nothing to say about" in result.stdout) == (2, True)
    (tmp_path / "config.toml").write_text("version = \n")
    broken = lint("values.yaml", "config.toml", "--release", "2.1.9", cwd=tmp_path)
    assert (broken.returncode, "containerd/config-refused" in broken.stdout) == (3, True)


def test_a_folders_other_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "case.yaml").write_text("replicas: 1\n")
    result = lint(tmp_path)
    assert (result.returncode, "holds no config.toml" in result.stderr) == (2, True)
    (tmp_path / "gpu.json").write_text('{"cdiVersion": "0.6.0", "kind": "vendor.com/gpu", "devices": [{}]}')
    result = lint(tmp_path, "-o", "json")
    files = [f["lines"][0]["file"] for f in json.loads(result.stdout)["findings"]]
    assert (result.returncode, files) == (3, [str(tmp_path / "gpu.json")])
