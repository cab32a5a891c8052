"""Folders of a node that are too large, or hold what is no file: our limit is called ours, never containerd's."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.cli.main import main

TOP = 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n'


def _node(folder: Path) -> Path:
    drop_ins = folder / "etc/containerd/conf.d"
    drop_ins.mkdir(parents=True)
    (folder / "etc/containerd/config.toml").write_text(TOP)
    return drop_ins


def _long(folder: Path) -> None:
    (_node(folder) / "a.toml").write_text("# x\n" * 500_000)


def _pipe(folder: Path) -> None:
    os.mkfifo(_node(folder) / "a.toml")


def _many(folder: Path) -> None:
    drop_ins = _node(folder)
    for number in range(1100):
        (drop_ins / f"{number}.toml").touch()


def _many_specifications(folder: Path) -> None:
    _node(folder)
    (folder / "etc/cdi").mkdir()
    for number in range(1100):
        (folder / f"etc/cdi/{number}.json").touch()


@pytest.mark.parametrize("verb", ["lint", "effective"])
@pytest.mark.parametrize(
    ("make", "says"),
    [
        (_long, "a.toml: is not a regular file of at most 1 MiB"),
        (_pipe, "a.toml: is not a regular file of at most 1 MiB"),
        (_many, "1,000 configuration files or more"),
        (_many_specifications, "etc/cdi: holds more than 1,000 files"),
    ],
)
def test_what_is_not_read_is_said_to_be_our_limit(
    verb: str, make: Callable[[Path], None], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make(tmp_path)
    assert main([verb, str(tmp_path), "--release", "1.7.24"]) == 2
    out, said = capsys.readouterr()
    assert out == ""
    assert says in said
    assert said.count("\n") == 1


def test_a_manifest_that_is_too_long_is_called_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "app.yaml").write_text("apiVersion: v1\nkind: Pod\n" + "# x\n" * 1_100_000)
    assert main(["lint", str(tmp_path / "app.yaml")]) == 2
    assert "4.2 MiB is more than the 4 MiB" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["lint", "-"], ["fit", "-f", "-"]])
def test_endless_standard_input_is_refused(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path("/dev/zero").open() as endless:
        monkeypatch.setattr(sys, "stdin", endless)
        code = main(arguments)
    assert (code, "is more than the 16 MiB" in capsys.readouterr().err) == (2, True)


def test_of_a_document_on_one_line_findings_show_the_place_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    container = '{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 0.5}}}'
    pods = ", ".join(
        f'{{"apiVersion": "v1", "kind": "Pod", "spec": {{"containers": [{container}]}}}}' for _ in range(300)
    )
    (tmp_path / "pods.json").write_text(f'{{"apiVersion": "v1", "kind": "List", "items": [{pods}]}}')
    assert main(["lint", str(tmp_path / "pods.json"), "-o", "json"]) == 3
    out = capsys.readouterr().out
    assert "0.5" in out
    assert len(out) < 600_000


@pytest.mark.parametrize("form", ["text", "json", "yaml", "markdown", "html"])
def test_a_path_whose_bytes_are_no_text_is_read_and_shown(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / os.fsdecode(b"\xff.json")
    path.write_text('{"kind": "Pod", "metadata": {"name": "x"}, "status": {"phase": "Pending"}}')
    assert main(["why", "pod/x", "--from", str(path), "-o", form]) in (3, 4)
    assert capsys.readouterr().out
