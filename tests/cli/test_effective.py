"""`effective` as a user runs it: the document of the model, its provenance, and a release's own error."""

import json
import tomllib
from pathlib import Path

import pytest

from lockgate.containerd import Effective, Release, resolve
from lockgate.containerd.show import as_data
from tests.cli.test_lint import BUNDLES, CRI, NVIDIA, REGISTRY, ROOT, run


def _folder(tmp_path: Path) -> Path:
    (tmp_path / "conf.d").mkdir()
    (tmp_path / "config.toml").write_text(ROOT + f'[{CRI}]\nsandbox_image = "registry.example/pause:3.9"\n')
    (tmp_path / "conf.d/50-nvidia.toml").write_text(NVIDIA)
    (tmp_path / "conf.d/99-registry.toml").write_text(REGISTRY)
    return tmp_path


def test_toml_and_json_are_the_document_of_the_model(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    for release in ("1.6.20", "1.7.24", "2.1.9", "2.4.2"):
        found = resolve(
            {f"/etc/containerd/{p.relative_to(folder)}": p.read_text() for p in folder.rglob("*.toml")},
            "/etc/containerd/config.toml",
            Release.parse(release),
        )
        assert isinstance(found, Effective)
        expected = as_data(found)["config"]
        assert json.loads(run("effective", folder, "--release", release, "-o", "json").stdout)["config"] == expected
        assert tomllib.loads(run("effective", folder, "--release", release).stdout) == _without_null(expected)


def _without_null(data: object) -> object:
    """TOML has no null."""
    if isinstance(data, dict):
        return {name: _without_null(item) for name, item in data.items() if item is not None}
    return data


def test_provenance_names_the_file_as_given_the_line_and_what_was_overridden(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    (folder / "conf.d/99-registry.toml").write_text(f'version = 2\n[{CRI}]\nsandbox_image = "mine:1"\n')
    data = json.loads(run("effective", ".", "--release", "2.1.9", "-o", "json", "--provenance", cwd=folder).stdout)
    place = data["provenance"]['plugins."io.containerd.cri.v1.images".pinned_images.sandbox']
    assert (place["file"], place["line"]) == ("conf.d/99-registry.toml", 3)
    first = {"file": "config.toml", "line": 4, "value": "registry.example/pause:3.9"}
    assert place["overrode"][0] == first
    commented = run("effective", ".", "--release", "2.1.9", "--provenance", cwd=folder).stdout
    assert '# conf.d/99-registry.toml:3, over config.toml:4\nsandbox = "mine:1"\n' in commented
    assert tomllib.loads(commented) == tomllib.loads(run("effective", ".", "--release", "2.1.9", cwd=folder).stdout)


def test_a_release_that_refuses_the_files_is_exit_3_with_its_own_words(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("version = 3\n")
    text = run("effective", tmp_path, "--release", "1.7.24")
    assert (text.returncode, text.stdout) == (3, "")
    assert "unsupported config version `3`" in text.stderr
    answer = run("effective", tmp_path / "config.toml", "--release", "1.7.24", "-o", "json")
    assert answer.returncode == 3
    assert set(json.loads(answer.stdout)) == {"error"}


def test_a_bundle_needs_a_node_when_it_has_several(tmp_path: Path) -> None:
    several = run("effective", BUNDLES / "handler-missing.tgz")
    assert several.returncode == 2
    assert "node-a, node-b" in several.stderr
    assert "--node" in several.stderr
    one = run("effective", BUNDLES / "handler-missing.tgz", "--node", "node-a")
    assert one.returncode == 0
    assert tomllib.loads(one.stdout)["version"] == 4


def test_without_a_release_it_asks_for_one(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("version = 2\n")
    answer = run("effective", tmp_path)
    assert answer.returncode == 2
    assert "give --release" in answer.stderr
    (tmp_path / "containerd-version.txt").write_text("containerd containerd.io 1.7.27 05044ec\n")
    assert run("effective", tmp_path).returncode == 0


@pytest.mark.parametrize(("release", "taken"), [("9.9.9", "2.4"), ("3.0.0", "2.4"), ("1.8.0", "1.7")])
def test_a_release_that_is_not_known_is_said_with_what_was_assumed(release: str, taken: str, tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    said = f"containerd {release} is no release that is known (the newest is 2.4): taken for {taken}"
    shown = run("effective", folder, "--release", release)
    assert (shown.returncode, said in shown.stderr) == (4, True)
    data = json.loads(run("effective", folder, "--release", release, "-o", "json").stdout)
    assert said in data["notChecked"][0]["reason"]
    assert "config" in data
    judged = json.loads(run("lint", folder, "--release", release, "-o", "json").stdout)
    assert said in judged["notChecked"][0]["reason"]


def test_a_release_that_is_not_known_alone_is_something_decisive_not_checked(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("version = 2\n")
    assert run("lint", tmp_path, "--release", "2.4.2").returncode == 0
    result = run("lint", tmp_path, "--release", "9.9.9")
    assert (result.returncode, "taken for 2.4" in result.stdout.replace("\n    ", " ")) == (4, True)


def test_what_is_no_release_is_bad_usage(tmp_path: Path) -> None:
    for verb in ("effective", "lint"):
        result = run(verb, _folder(tmp_path) if verb == "effective" else tmp_path, "--release", "newest")
        assert (result.returncode, "no containerd release in 'newest'" in result.stderr) == (2, True)


def test_a_bundle_of_a_release_older_than_any_that_is_known_is_told(tmp_path: Path) -> None:
    (tmp_path / "nodes/a/etc/containerd").mkdir(parents=True)
    (tmp_path / "nodes/a/etc/containerd/config.toml").write_text("version = 2\n")
    (tmp_path / "nodes/a/containerd-version.txt").write_text("containerd containerd.io v1.5.0 1407cab\n")
    result = run("lint", tmp_path)
    assert (result.returncode, "the containerd release of a is not known" in result.stdout) == (4, True)
    assert run("effective", tmp_path).returncode == 2
