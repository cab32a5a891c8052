import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lockgate.apply.files import remove_file, remove_leftovers, write_file


def test_a_new_file_has_the_content_and_its_directories_are_made(tmp_path: Path) -> None:
    path = tmp_path / "conf.d/99-nvidia.toml"
    assert write_file(path, b"version = 3\n")
    assert path.read_bytes() == b"version = 3\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_equal_content_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"x")
    before = path.stat()
    assert not write_file(path, b"x")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_mode_and_owner_stay(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"old")
    path.chmod(0o600)
    if os.getuid() == 0:
        os.chown(path, 1234, 4321)
    before = path.stat()
    write_file(path, b"new")
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path: Path) -> None:
    real, link = tmp_path / "real/config.toml", tmp_path / "config.toml"
    real.parent.mkdir()
    real.write_bytes(b"old")
    link.symlink_to("real/config.toml")
    write_file(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_reader_that_has_the_old_file_open_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"old")
    with path.open("rb") as reader:
        write_file(path, b"new")
        assert reader.read() == b"old"


def test_a_directory_is_not_replaced(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="not a regular file"):
        write_file(tmp_path, b"")


def test_a_full_disk_leaves_the_old_content_and_no_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"old")

    def full(point: str) -> None:
        if point.startswith("before flushing"):
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_file(path, b"new", checkpoint=full)
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["config.toml"]


def test_removing_is_safe_to_do_twice(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"")
    assert remove_file(path)
    assert not remove_file(path)


KILLED = """
import os, signal, sys
from pathlib import Path
from lockgate.apply.files import write_file

def at(point, left=[int(sys.argv[2])]):
    left[0] -= 1
    if left[0] < 0:
        os.kill(os.getpid(), signal.SIGKILL)

write_file(Path(sys.argv[1]), b"new" * 1000, checkpoint=at)
"""


@pytest.mark.parametrize("existed", [True, False])
def test_a_writer_killed_at_any_point_leaves_the_old_content_or_the_new(tmp_path: Path, existed: bool) -> None:
    outcomes = []
    for point in range(10):
        path = tmp_path / f"{point}/config.toml"
        path.parent.mkdir()
        if existed:
            path.write_bytes(b"old")
        ended = subprocess.run([sys.executable, "-c", KILLED, path, str(point)], check=False)
        outcomes.append(path.read_bytes() if path.exists() else None)
        assert outcomes[-1] in ((b"old" if existed else None), b"new" * 1000)
        remove_leftovers(path.parent)
        assert [entry.name for entry in path.parent.iterdir()] == (["config.toml"] if path.exists() else [])
        if ended.returncode == 0:
            break
    assert len(outcomes) == 8, "seven points of death, and then a life"
    assert outcomes[0] != outcomes[-1]
