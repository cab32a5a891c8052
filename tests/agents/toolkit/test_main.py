"""The program `nvidia-toolkit`: one a node, bad settings told in one line."""

import os
import subprocess
import sys
from pathlib import Path

from lockgate.agents.toolkit.__main__ import _locked

REPOSITORY = Path(__file__).parents[3]


def toolkit(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A run that ends by itself: it configures nothing and writes no specification."""
    command = [sys.executable, "-m", "lockgate.agents.toolkit", "--no-daemon", "--no-runtime-config", *words]
    environ = {"PATH": os.environ["PATH"], "PYTHONPATH": str(REPOSITORY / "src"), "HOST_ROOT_MOUNT": str(tmp_path)}
    environ["TOOLKIT_PID_FILE"] = str(tmp_path / "toolkit.pid")
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=60)


def test_a_second_toolkit_on_a_node_ends_and_names_the_first(tmp_path: Path) -> None:
    with _locked(tmp_path / "toolkit.pid"):
        second = toolkit(tmp_path)
    assert second.returncode == 1
    assert f"another toolkit runs on this node (process {os.getpid()})" in second.stderr
    assert (tmp_path / "toolkit.pid").read_text() == f"{os.getpid()}\n", "the first one's number stays"


def test_settings_that_cannot_be_used_are_one_line(tmp_path: Path) -> None:
    ended = toolkit(tmp_path, "--restart-mode", "kill")
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "expected one of signal, systemd, none" in ended.stderr
