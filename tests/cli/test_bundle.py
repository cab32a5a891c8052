"""`bundle show` and `bundle diff`: what is in a bundle, what lacks, and what changed from one moment to another."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from tests.cli.test_collect import NOBODY, gather
from tests.cli.test_why import BUNDLES, run
from tests.collect.test_live import Recorded
from tests.unpacking import unpack

BEFORE, AFTER = str(BUNDLES / "healthy-installed.tgz"), str(BUNDLES / "unhealthy.tgz")


def unpacked(bundle: str, folder: Path) -> Path:
    unpack(BUNDLES / f"{bundle}.tgz", folder)
    return folder / bundle


# --- show


def test_a_collected_bundle_says_what_it_holds_and_what_was_taken_out(tmp_path: Path) -> None:
    asyncio.run(gather(tmp_path, Recorded(BUNDLES / "unhealthy.tgz", NOBODY)))
    result = run("bundle", "show", str(tmp_path / "bundle.tgz"), "-o", "json")
    document = json.loads(result.stdout)
    sections = {s["name"]: s for s in document["sections"]}
    assert (document["apiVersion"], document["kind"]) == ("lockgate.dev/v1alpha1", "BundleContents")
    assert document["takenAt"]
    assert document["tool"].startswith("lockgate ")
    assert sections["nodes"]["count"] == 3
    assert sections["nodes"]["size"] > 1000
    assert document["redacted"]["env"] >= 1
    text = run("bundle", "show", str(tmp_path / "bundle.tgz")).stdout
    assert "Taken out: " in text
    assert max(len(line) for line in text.splitlines()) <= 100


def test_what_could_not_be_read_is_shown_with_the_permission(tmp_path: Path) -> None:
    asyncio.run(gather(tmp_path, Recorded(BUNDLES / "all-held.tgz", lambda plural, namespace, name: plural == "nodes")))
    result = run("bundle", "show", str(tmp_path / "bundle.tgz"))
    assert result.returncode == 4
    assert "LACKING\n" in result.stdout
    assert "needed is RBAC: list on nodes" in " ".join(result.stdout.split())


def test_a_folder_without_a_manifest_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    folder = unpacked("unhealthy", tmp_path)
    (folder / "notes.txt").write_text("mine")
    result = run("bundle", "show", str(folder))
    assert result.returncode == 4
    assert "no manifest, so nothing is known of what lacks" in " ".join(result.stdout.split())
    assert "nodes/gpu-a" in result.stdout
    assert "notes.txt" in result.stdout


def test_a_must_gather_folder_shows_what_of_it_is_read(tmp_path: Path) -> None:
    unpack(BUNDLES.parent / "collect/must_gather/unhealthy.tgz", tmp_path)
    folder = next(tmp_path.iterdir())
    (folder / "gpu_device_usage_gpu-a.log").write_text("# nvidia-smi output from gpu-a\n")
    (folder / "notes.md").write_text("mine")
    document = json.loads(run("bundle", "show", str(folder), "-o", "json").stdout)
    (area,) = document["sections"]
    assert (area["name"], area["count"] > 10) == ("must-gather", True)
    assert "notes.md" in document["ignored"]
    assert not any("gpu_device_usage" in name for name in document["ignored"])


def test_a_folder_of_files_under_any_names_shows_what_of_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "my pods.json").write_text('{"apiVersion": "v1", "kind": "PodList", "items": []}')
    (tmp_path / "photo.png").write_bytes(b"x")
    result = run("bundle", "show", str(tmp_path))
    assert result.returncode == 4
    assert "files" in result.stdout
    assert "Not read: photo.png" in result.stdout


def test_a_link_is_shown_as_lacking(tmp_path: Path) -> None:
    folder = unpacked("unhealthy", tmp_path)
    (folder / "cluster/jobs.yaml").symlink_to("/srv/jobs.yaml")
    result = run("bundle", "show", str(folder))
    assert result.returncode == 4
    assert "LACKING\n  cluster/jobs.yaml is a link to /srv/jobs.yaml\n" in result.stdout
    document = json.loads(run("bundle", "show", str(folder), "-o", "json").stdout)
    assert document["leftOut"] == ["cluster/jobs.yaml is a link to /srv/jobs.yaml"]


def test_what_is_no_bundle_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello")
    for path in (str(tmp_path / "x"), str(tmp_path / "gone")):
        result = run("bundle", "show", path)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)


# --- diff


def test_a_moment_differs_from_itself_in_nothing() -> None:
    result = run("bundle", "diff", AFTER, AFTER)
    assert (result.returncode, result.stdout.splitlines()[-1]) == (0, "Nothing differs.")


def test_what_came_is_told_first_then_fields_then_files() -> None:
    result = run("bundle", "diff", BEFORE, AFTER)
    assert result.returncode == 3
    assert "+ blocker devices/unhealthy" in result.stdout
    assert "~ gpu-a\n    status.allocatable[nvidia.com/gpu]: 2 -> 1" in result.stdout
    assert "+ default/pair" in result.stdout
    assert result.stdout.index("FINDINGS") < result.stdout.index("NODES") < result.stdout.index("FILES OF NODES")
    assert max(len(line) for line in result.stdout.splitlines()) <= 100
    assert "resourceVersion" not in result.stdout


def test_the_other_way_round_the_finding_is_gone() -> None:
    document = json.loads(run("bundle", "diff", AFTER, BEFORE, "-o", "json").stdout)
    assert document["kind"] == "BundleComparison"
    assert "devices/unhealthy" in {f["id"] for f in document["gone"]}
    assert document["appeared"] == []


def test_one_line_of_one_file_is_one_line_of_the_difference(tmp_path: Path) -> None:
    one, other = unpacked("unhealthy", tmp_path / "a"), unpacked("unhealthy", tmp_path / "b")
    config = other / "nodes/gpu-a/etc/containerd/config.toml"
    config.write_text(config.read_text() + "# a word of mine\n")
    document = json.loads(run("bundle", "diff", str(one), str(other), "-o", "json").stdout)
    (file,) = document["files"]
    assert (file["node"], file["path"]) == ("gpu-a", "/etc/containerd/config.toml")
    assert [line for line in file["lines"] if line[0] in "+-"] == ["+# a word of mine"]
    assert document["objects"] == []


def test_words_for_secrets_are_no_difference(tmp_path: Path) -> None:
    one, other = unpacked("unhealthy", tmp_path / "a"), unpacked("unhealthy", tmp_path / "b")
    for folder, word in ((one, "redacted-1"), (other, "redacted-77")):
        config = folder / "nodes/gpu-a/etc/containerd/config.toml"
        config.write_text(config.read_text() + f'# password = "{word}"\n')
    assert run("bundle", "diff", str(one), str(other)).returncode == 0


def test_a_section_that_one_side_lacks_is_not_called_removed(tmp_path: Path) -> None:
    one, other = unpacked("unhealthy", tmp_path / "a"), unpacked("unhealthy", tmp_path / "b")
    (other / "cluster/runtimeclasses.json").unlink()
    result = run("bundle", "diff", str(one), str(other))
    assert result.returncode in (3, 4)
    assert "runtimeclasses: only the first side knows them" in result.stdout
    shutil.rmtree(other / "nodes")
    assert "removed" not in run("bundle", "diff", str(one), str(other), "-o", "json").stdout


@pytest.mark.parametrize("arguments", [("show", "a", "b"), ("diff", "a")])
def test_the_number_of_paths_is_checked(arguments: tuple[str, ...]) -> None:
    result = run("bundle", *arguments)
    assert (result.returncode, "bundle" in result.stderr) == (2, True)


def test_yaml_and_markdown_are_there_too() -> None:
    assert "kind: BundleComparison" in run("bundle", "diff", BEFORE, AFTER, "-o", "yaml").stdout
    assert run("bundle", "diff", BEFORE, AFTER, "-o", "markdown").stdout.startswith("```diff\n--- ")
