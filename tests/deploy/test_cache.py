"""The cache of built things: made once, also by two runs at once; what nobody uses for a month goes."""

import multiprocessing
import os
import time
from pathlib import Path

import pytest

from deploy.cache import UNUSED, kept, prune

LONG_AGO = time.time() - UNUSED.total_seconds() - 60


def old(path: Path, *, folder: bool = False) -> Path:
    """An entry that nobody has used for more than a month."""
    if folder:
        path.mkdir(parents=True)
        (path / "program").write_text("x")
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def slowly(entry: Path, made: Path) -> None:
    """Make an entry as another process does, and say so in `made`."""

    def make(to: Path) -> None:
        to.write_text("whole")
        time.sleep(0.3)
        with made.open("a") as log:
            log.write("once\n")

    assert kept(entry, make).read_text() == "whole"


def test_two_runs_at_once_make_an_entry_once(tmp_path: Path) -> None:
    entry, made = tmp_path / "cache" / "tool-0123", tmp_path / "made"
    runs = [multiprocessing.Process(target=slowly, args=(entry, made)) for _ in range(4)]
    for run in runs:
        run.start()
    for run in runs:
        run.join(30)
    assert [run.exitcode for run in runs] == [0] * 4
    assert made.read_text() == "once\n"


def test_what_a_killed_run_left_is_replaced_and_a_failed_one_leaves_no_entry(tmp_path: Path) -> None:
    (tmp_path / "tool-1.partial").mkdir()
    (tmp_path / "tool-1.partial" / "half").write_text("")

    def fails(to: Path) -> None:
        to.mkdir()
        raise RuntimeError("no gcc")

    with pytest.raises(RuntimeError, match="no gcc"):
        kept(tmp_path / "tool-1", fails)
    assert not (tmp_path / "tool-1").exists()
    assert list(kept(tmp_path / "tool-1", Path.mkdir).iterdir()) == []


def test_making_something_new_removes_what_is_unused_and_leaves_what_is_in_use(tmp_path: Path) -> None:
    gone = [old(tmp_path / "kubernetes-1", folder=True), old(tmp_path / "image-2.tar"), old(tmp_path / "x-3.partial")]
    there = [old(tmp_path / "apt", folder=True), old(tmp_path / ".lock")]
    used = old(tmp_path / "etcd-4", folder=True)
    kept(used, Path.mkdir)
    assert used.stat().st_mtime > LONG_AGO + 60
    assert all(path.exists() for path in (*gone, *there, used))
    kept(tmp_path / "new-5", Path.touch)
    assert [path.name for path in gone if path.exists()] == []
    assert all(path.exists() for path in (*there, used))


def test_a_new_folder_that_looks_old_stays(tmp_path: Path) -> None:
    def unpack(to: Path) -> None:
        old(to, folder=True)

    assert kept(tmp_path / "package-1", unpack).is_dir()


def test_a_link_goes_and_what_it_leads_to_stays(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere" / "tool"
    target.mkdir(parents=True)
    os.utime(target, (LONG_AGO, LONG_AGO))
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "tool-1").symlink_to(target)
    prune(tmp_path / "cache")
    assert (target.exists(), os.path.lexists(tmp_path / "cache" / "tool-1")) == (True, False)


def test_a_folder_that_is_not_there_needs_no_tidying(tmp_path: Path) -> None:
    prune(tmp_path / "gone")
    assert not (tmp_path / "gone").exists()
