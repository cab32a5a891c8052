from pathlib import Path

from lockgate.containerd import Directory, Effective, Release, Unreadable, resolve
from lockgate.host.containerd_files import SIZE_LIMIT, read_files

NEW, OLD = Release.parse("2.1.9"), Release.parse("1.7.24")
CONFIG = "/etc/containerd/config.toml"


def put(host: Path, path: str, text: str) -> None:
    target = host / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text)


def loaded(host: Path, release: Release = NEW) -> tuple[str, ...]:
    effective = resolve(read_files(host, CONFIG, release), CONFIG, release)
    assert isinstance(effective, Effective)
    return effective.loaded


def test_a_missing_configuration_is_an_empty_tree(tmp_path: Path) -> None:
    assert read_files(tmp_path, CONFIG, NEW).entries == {}


def test_imports_of_imports_are_read(tmp_path: Path) -> None:
    put(tmp_path, CONFIG, 'version = 3\nimports = ["/etc/containerd/conf.d/*.toml"]\n')
    put(tmp_path, "/etc/containerd/conf.d/a.toml", 'imports = ["../more/b.toml"]\n')
    put(tmp_path, "/etc/containerd/more/b.toml", "version = 3\n")
    put(tmp_path, "/etc/containerd/conf.d/a.txt", "not read\n")
    assert loaded(tmp_path) == (CONFIG, "/etc/containerd/conf.d/a.toml", "/etc/containerd/more/b.toml")


def test_a_pattern_with_a_star_in_its_folder(tmp_path: Path) -> None:
    put(tmp_path, CONFIG, 'version = 3\nimports = ["/etc/*/x-*/c.toml"]\n')
    put(tmp_path, "/etc/one/x-1/c.toml", "version = 3\n")
    put(tmp_path, "/etc/two/y-1/c.toml", "version = 3\n")
    assert loaded(tmp_path) == (CONFIG, "/etc/one/x-1/c.toml")


def test_links_are_those_of_the_host(tmp_path: Path) -> None:
    put(tmp_path, "/opt/real.toml", "version = 3\n")
    (tmp_path / "etc/containerd").mkdir(parents=True)
    (tmp_path / "etc/containerd/config.toml").symlink_to("/opt/real.toml")
    assert read_files(tmp_path, CONFIG, NEW).read(CONFIG) == b"version = 3\n"


def test_files_that_import_each_other_end(tmp_path: Path) -> None:
    put(tmp_path, CONFIG, 'version = 3\nimports = ["a.toml"]\n')
    put(tmp_path, "/etc/containerd/a.toml", 'imports = ["config.toml"]\n')
    assert len(read_files(tmp_path, CONFIG, NEW).entries) == 2


def test_what_cannot_be_read_is_told_apart(tmp_path: Path) -> None:
    put(tmp_path, CONFIG, 'version = 3\nimports = ["/etc/containerd/conf.d/*"]\n')
    (tmp_path / "etc/containerd/conf.d/folder").mkdir(parents=True)
    put(tmp_path, "/etc/containerd/conf.d/huge.toml", "#" * (SIZE_LIMIT + 1))
    files = read_files(tmp_path, CONFIG, NEW)
    assert files.read("/etc/containerd/conf.d/folder") == Directory()
    assert isinstance(files.read("/etc/containerd/conf.d/huge.toml"), Unreadable)


def test_a_broken_file_does_not_keep_the_others_from_being_read(tmp_path: Path) -> None:
    put(tmp_path, CONFIG, "this is no toml")
    put(tmp_path, "/etc/containerd/conf.d/99-nvidia.toml", "version = 2\n")
    files = read_files(tmp_path, CONFIG, OLD, ["/etc/containerd/conf.d"])
    assert sorted(files.entries) == ["/etc/containerd/conf.d/99-nvidia.toml", CONFIG]
