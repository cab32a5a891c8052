"""A file written through `/proc/PID/root` lands in that process's root, as the toolkit reaches its host's files."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.apply.files import behind_links, write_file

# A process with another root in a mount namespace of its own, as a container's: seen from here its root's text is `/`.
_ELSEWHERE = """
import ctypes, os, sys
libc, root = ctypes.CDLL(None, use_errno=True), sys.argv[1].encode()
def must(result):
    if result: sys.exit(77)
must(libc.unshare(0x00020000))
must(libc.mount(b"none", b"/", None, 0x4000 | 0x40000, None))  # private, recursively
must(libc.mount(root, root, None, 0x1000, None))  # a mount point of its own
os.chdir(root); os.mkdir("old")
must(libc.syscall(155, b".", b"old"))  # pivot_root
print(flush=True); sys.stdin.read()
"""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """The door to a root that is `tmp_path`, of a process that runs."""
    if os.getuid() != 0 or os.uname().machine != "x86_64":
        pytest.skip("only root makes a mount namespace; the number of pivot_root is x86_64's")
    command = [sys.executable, "-c", _ELSEWHERE, str(tmp_path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin and process.stdout
    try:
        if not process.stdout.readline():
            pytest.skip("mount namespaces cannot be made here")
        yield Path(f"/proc/{process.pid}/root")
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait()


def test_a_file_lands_behind_the_door_and_not_here(elsewhere: Path, tmp_path: Path) -> None:
    assert str(elsewhere.readlink()) == "/", "its text leads back here"
    place = "etc/lockgate-test-of-another-root/conf.d"
    (tmp_path / place).mkdir(parents=True)
    (tmp_path / place / "real.toml").write_text("old")
    (tmp_path / place / "link.toml").symlink_to("real.toml")
    assert write_file(elsewhere / place / "link.toml", b"new")
    assert (tmp_path / place / "real.toml").read_text() == "new"
    assert (tmp_path / place / "link.toml").is_symlink()
    assert not Path("/", place).exists()


def test_links_that_go_round_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        behind_links(tmp_path / "a")
