"""Imports are found and queued as Go finds them."""

import pytest

from lockgate.containerd import ConfigError, Directory, Effective, Files, Release, Unreadable, View, resolve
from lockgate.containerd.imports import BadPatternError, glob, matcher

ROOT = "/etc/containerd/config.toml"
NEWEST = Release.parse("2.4.2")


def loaded(files: dict[str, object], release: str = "2.4.2", view: View = View.DAEMON) -> tuple[str, ...]:
    found = resolve(files, ROOT, Release.parse(release), view=view)  # type: ignore[arg-type]
    assert isinstance(found, Effective), found
    return tuple(path.removeprefix("/etc/containerd/") for path in found.loaded)


def refusal(files: dict[str, object], release: str, view: View = View.DAEMON) -> ConfigError:
    found = resolve(files, ROOT, Release.parse(release), view=view)  # type: ignore[arg-type]
    assert isinstance(found, ConfigError), found
    return found


def test_files_of_a_pattern_come_in_byte_order_with_hidden_ones_first() -> None:
    names = ("9.toml", "10.toml", ".h.toml", "A.toml", "b.toml", "c.conf")
    tree = Files({f"/c/{name}": "" for name in names})
    assert glob("/c/*.toml", tree) == [f"/c/{name}" for name in (".h.toml", "10.toml", "9.toml", "A.toml", "b.toml")]


def test_a_star_stays_inside_one_folder() -> None:
    tree = Files({"/a/x/1.toml": "", "/a/y/2.toml": "", "/a/3.toml": ""})
    assert glob("/a/*.toml", tree) == ["/a/3.toml"]
    assert glob("/*/[x-y]/*", tree) == ["/a/x/1.toml", "/a/y/2.toml"]
    assert glob("/a/[^x]/?.toml", tree) == ["/a/y/2.toml"]


def test_a_pattern_that_go_rejects_is_rejected() -> None:
    with pytest.raises(BadPatternError):
        matcher("a[")
    assert refusal({ROOT: 'imports = ["/etc/[*"]'}, "2.4.2").message == "syntax error in pattern"


def test_imports_of_imports_come_after_all_imports_of_the_top_level_file() -> None:
    files = {
        ROOT: 'imports = ["b.toml", "a.toml"]',
        "/etc/containerd/a.toml": "",
        "/etc/containerd/b.toml": 'imports = ["n.toml"]',
        "/etc/containerd/n.toml": 'imports = ["/etc/containerd/config.toml"]',
    }
    assert loaded(files) == ("config.toml", "b.toml", "a.toml", "n.toml")


def test_a_question_mark_alone_is_taken_literally() -> None:
    files = {ROOT: 'imports = ["conf.d/?.toml"]', "/etc/containerd/conf.d/a.toml": ""}
    assert "conf.d/?.toml: no such file" in refusal(files, "1.7.24").message


def test_a_pattern_without_matches_is_no_error_and_a_missing_file_is() -> None:
    assert loaded({ROOT: 'imports = ["/nowhere/*.toml"]'}) == ("config.toml",)
    missing = {ROOT: 'imports = ["/nowhere/x.toml"]\nroot = "/data"'}
    assert refusal(missing, "1.7.24").message == (
        "failed to load TOML: /nowhere/x.toml: open /nowhere/x.toml: no such file or directory"
    )
    assert refusal(missing, "2.1.9").message == "open /nowhere/x.toml: no such file or directory"


def test_a_2x_dump_hides_a_missing_import_that_stops_the_daemon() -> None:
    files = {ROOT: 'imports = ["/nowhere/x.toml"]\nroot = "/data"'}
    dumped = resolve(files, ROOT, Release.parse("2.1.9"), view=View.DUMP)
    assert isinstance(dumped, Effective)
    assert dumped.missing_import == "/nowhere/x.toml"
    assert isinstance(resolve(files, ROOT, Release.parse("1.7.24"), view=View.DUMP), ConfigError)


@pytest.mark.parametrize("release", ["1.7.24", "2.4.2"])
def test_a_folder_among_the_matches_is_an_error(release: str) -> None:
    files = {ROOT: 'imports = ["conf.d/*.toml"]', "/etc/containerd/conf.d/sub.toml/x": ""}
    assert refusal(files, release).message.endswith("read /etc/containerd/conf.d/sub.toml: is a directory")
    assert "is a directory" in refusal({ROOT: Directory()}, release).message


def test_a_file_that_may_not_be_read_is_an_error() -> None:
    files = {ROOT: 'imports = ["a.toml"]', "/etc/containerd/a.toml": Unreadable()}
    assert refusal(files, "2.4.2").message == "open /etc/containerd/a.toml: permission denied"


def test_early_1x_releases_look_for_relative_patterns_in_the_working_directory() -> None:
    files = {ROOT: 'imports = ["conf.d/*.toml"]', "/etc/containerd/conf.d/a.toml": ""}
    assert loaded(files, "1.7.12") == ("config.toml",)
    assert loaded(files, "1.7.24") == ("config.toml", "conf.d/a.toml")
