"""Programs are found by a key of what they are made from; what a machine lacks is said at once and plainly."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster.programs import MissingProgramError, debian, golang
from tests.cluster.programs.build import check_machine
from tests.cluster.programs.table import GO_PROGRAMS, GoPrograms

HELM = next(row for row in GO_PROGRAMS if row.name == "helm")


def test_the_key_stays_while_nothing_changes() -> None:
    assert golang.key(HELM, "go1.26") == golang.key(HELM, "go1.26")


@pytest.mark.parametrize("changed", [replace(HELM, ldflags="-s"), replace(HELM, tags="x"), replace(HELM, cgo=True)])
def test_other_flags_are_another_program(changed: GoPrograms) -> None:
    assert golang.key(changed, "go1.26") != golang.key(HELM, "go1.26")


def test_another_compiler_is_another_program() -> None:
    assert golang.key(HELM, "go1.27") != golang.key(HELM, "go1.26")


@pytest.mark.parametrize("file", ["go.mod", "go.sum", "tools.go"])
def test_other_modules_are_another_program(file: str, tmp_path: Path) -> None:
    shutil.copytree(Path(golang.__file__).with_name("helm"), tmp_path / "helm")
    before = golang.key(HELM, "go1.26", tmp_path)
    with (tmp_path / "helm" / file).open("a") as appended:
        appended.write("// changed\n")
    assert golang.key(HELM, "go1.26", tmp_path) != before


def test_every_pinned_module_has_its_files_and_no_registry_address() -> None:
    for row in GO_PROGRAMS:
        for name in ("go.mod", "go.sum", "tools.go"):
            text = (Path(golang.__file__).parent / row.module / name).read_text()
            assert "://" not in text


def test_a_machine_that_lacks_everything_is_told_so_in_one_go() -> None:
    with pytest.raises(MissingProgramError) as raised:
        check_machine(which=lambda _: None, euid=lambda: 1000)
    told = str(raised.value)
    for word in ("root", "Go 1.26", "gcc", "apt-get"):
        assert word in told


def test_a_machine_that_has_all_is_accepted() -> None:
    check_machine(which=lambda name: f"/usr/bin/{name}", euid=lambda: 0)


def test_the_mirror_is_read_from_either_format_of_source_list(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d/other.list").write_text("deb [arch=amd64] http://other.test/tools bookworm main\n")
    (tmp_path / "sources.list.d/debian.sources").write_text("Types: deb\nURIs: http://mirror.test/debian\n")
    assert debian.machine_mirror(tmp_path) == "http://mirror.test/debian"
    (tmp_path / "sources.list").write_text("# a comment\ndeb http://first.test/debian/ bookworm main\n")
    assert debian.machine_mirror(tmp_path) == "http://first.test/debian/"


def test_a_machine_without_a_debian_mirror_is_told_what_that_stops(tmp_path: Path) -> None:
    with pytest.raises(MissingProgramError, match=r"no Debian mirror in .*containerd 1.7 and 2.1 cannot be fetched"):
        debian.machine_mirror(tmp_path)


def test_the_release_is_read_by_its_code_name(tmp_path: Path) -> None:
    (tmp_path / "os-release").write_text('ID=debian\nVERSION_CODENAME="bookworm"\n')
    assert debian.machine_suite(tmp_path / "os-release") == "bookworm"
