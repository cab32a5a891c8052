"""The how-to of the drop-in trap is true: its files lose the runtime on 1.7, and --fix gives all of it back."""

import shutil
from pathlib import Path

from lockgate.cli.main import main
from lockgate.containerd import Effective, Release, resolve

FOLDER = Path(__file__).parents[2] / "docs/how-to/drop-in-trap"
TOP_LEVEL = "/etc/containerd/config.toml"


def _effective(folder: Path, without: str = "") -> Effective:
    files = {
        f"/etc/containerd/{p.relative_to(folder)}": p.read_text() for p in folder.rglob("*.toml") if p.name != without
    }
    found = resolve(files, TOP_LEVEL, Release.parse("1.7.27"))
    assert isinstance(found, Effective)
    return found


def test_the_registry_drop_in_takes_the_runtime_away() -> None:
    assert "nvidia" in _effective(FOLDER, without="99-registry.toml").handlers
    assert "nvidia" not in _effective(FOLDER).handlers


def test_fix_gives_back_what_was_lost_and_keeps_the_registry(tmp_path: Path) -> None:
    folder = tmp_path / "containerd"
    shutil.copytree(FOLDER, folder)
    assert main(["lint", str(folder), "--release", "1.7.27", "--fix"]) == 0
    before, after = _effective(FOLDER, without="99-registry.toml"), _effective(folder)
    assert {n: (h.binary_name, h.systemd_cgroup) for n, h in after.handlers.items()} == {
        n: (h.binary_name, h.systemd_cgroup) for n, h in before.handlers.items()
    }
    assert (after.enable_cdi, after.registry_config_path) == (True, "/etc/containerd/certs.d")
