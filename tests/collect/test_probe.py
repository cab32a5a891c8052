"""What the probe reads of a node and prints: the files of an input folder, whole, redacted, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lockgate.collect.errors import InputError
from lockgate.collect.folder import from_folder
from lockgate.collect.probe import dump, load
from lockgate.model.facts import Missing
from tests.collect.test_redaction import planted

CONFIG = 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd]\n  default_runtime_name = "nvidia"\n'


def node(root: Path) -> Path:
    """A folder that stands for a node's root."""
    texts = [text for _, _, text in planted(3)]
    files = {
        "etc/containerd/config.toml": CONFIG,
        "etc/containerd/conf.d/99-nvidia.toml": "version = 2\n",
        "etc/containerd/certs.d/registry/client.key": "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n",
        "etc/containerd/registry.toml": "\n".join(texts),
        "etc/cdi/nvidia.yaml": "cdiVersion: 0.6.0\nkind: nvidia.com/gpu\n",
        "run/cdi/plugin.json": "{}",
        "etc/shadow": "root:secret\n",
        "etc/containerd/huge.toml": "x" * 300_000,
        "proc/version": "Linux version 6.1.0\n",
        "proc/1/environ": "TOKEN=secret\n",
        "proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX 580.95.05\n",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    (root / "var/run").parent.mkdir(exist_ok=True)
    (root / "var/run").symlink_to("/run")
    (root / "etc/containerd/leads-out.toml").symlink_to("/../../../etc/shadow")
    (root / "opt").mkdir()
    (root / "opt/ours.toml").write_text("version = 3\n")
    (root / "etc/containerd/linked.toml").symlink_to("/opt/ours.toml")
    (root / "etc/containerd/conf.d/round.toml").symlink_to("round.toml")
    os.mkfifo(root / "etc/containerd/pipe")
    return root


def printed(root: Path) -> str:
    """What the program prints, run as its pod runs it."""
    command = [sys.executable, "-m", "lockgate.collect.probe", str(root)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert result.stderr == ""
    return result.stdout


def test_it_reads_the_files_of_an_input_folder_and_no_others(tmp_path: Path) -> None:
    found = load("node gpu-a", printed(node(tmp_path)))
    assert {path for path in found if not path.endswith(("dmesg.txt",))} == {
        "etc/containerd/config.toml",
        "etc/containerd/conf.d/99-nvidia.toml",
        "etc/containerd/registry.toml",
        "etc/containerd/linked.toml",
        "etc/cdi/nvidia.yaml",
        "var/run/cdi/plugin.json",
        "run/cdi/plugin.json",
        "proc/version",
        "proc/driver/nvidia/version",
    }
    assert found["etc/containerd/config.toml"] == CONFIG
    assert found["etc/containerd/linked.toml"] == "version = 3\n"


def test_no_planted_secret_is_printed(tmp_path: Path) -> None:
    found = load("node gpu-a", printed(node(tmp_path)))
    text = "\n".join(found.values())
    assert [(kind, secret) for kind, secret, _ in planted(3) if secret in text] == []
    assert "redacted-on-node-1" in text


def test_nothing_on_the_node_is_changed(tmp_path: Path) -> None:
    root = node(tmp_path)
    before = {p: p.lstat().st_mtime_ns for p in sorted(root.rglob("*"))}
    printed(root)
    assert {p: p.lstat().st_mtime_ns for p in sorted(root.rglob("*"))} == before


@pytest.mark.skipif(os.geteuid() != 0, reason="a change of root needs root")
def test_the_nodes_own_containerd_is_asked(tmp_path: Path) -> None:
    root = node(tmp_path)
    program = root / "usr/bin/containerd"
    program.parent.mkdir(parents=True)
    source = tmp_path / "p.c"
    source.write_text(
        '#include <stdio.h>\nint main(int n, char **v) { return puts(n > 2 ? "version = 3" : "v2.1.9") < 0; }\n'
    )
    if subprocess.run(["gcc", "-static", "-o", str(program), str(source)], check=False).returncode:
        pytest.skip("needs gcc and a static C library")
    found = load("node gpu-a", printed(root))
    assert (found["containerd-version.txt"], found["containerd-config-dump.toml"]) == ("v2.1.9\n", "version = 3\n")


def test_what_it_prints_is_read_as_a_nodes_folder(tmp_path: Path) -> None:
    for path, text in load("node", printed(node(tmp_path / "root"))).items():
        place = tmp_path / "bundle/nodes/gpu-a" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    facts = from_folder(tmp_path / "bundle")
    assert not isinstance(facts.node_files, Missing)
    (folder,) = facts.node_files
    assert folder.files["/etc/containerd/config.toml"] == CONFIG


def test_a_log_that_is_not_whole_is_refused() -> None:
    whole = dump({"a": "b" * 10_000})
    assert load("node x", f"noise before\n{whole}noise after\n") == {"a": "b" * 10_000}
    for cut in (whole[:-80], whole.replace("A", "B", 1), "", "python3: No module named lockgate"):
        with pytest.raises(InputError, match="node x: what the probe printed"):
            load("node x", cut)
