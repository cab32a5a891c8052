"""Which files of a node a folder may hold for rules: those of its runtimes, and the kubelet's record of devices."""

from pathlib import Path

from lockgate.collect.folder import from_folder
from lockgate.model.facts import Missing

RECORD = "var/lib/kubelet/device-plugins/kubelet_internal_checkpoint"
READ = ("etc/nvidia-container-runtime/config.toml", RECORD, "proc/driver/nvidia/version")
LEFT = ("etc/shadow", "var/lib/kubelet/pki/kubelet.key", "var/lib/kubelet/device-plugins/other")


def test_files_that_rules_read_are_taken_and_others_are_left(tmp_path: Path) -> None:
    for path in (*READ, *LEFT):
        place = tmp_path / "nodes" / "gpu-a" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("text")
    (tmp_path / "nodes" / "gpu-a" / "dmesg.txt").write_text("NVRM: ...")
    found = from_folder(tmp_path).node_files
    assert not isinstance(found, Missing)
    assert sorted(found[0].files) == sorted(f"/{path}" for path in READ)
    assert found[0].outputs == {"dmesg": "NVRM: ..."}
