"""What a file is: by what it says, or by where it stands, and nothing else."""

import time
from pathlib import Path

import pytest

from lockgate.collect.file_kinds import is_containerd, is_object, is_specification

CDI = 'cdiVersion: "0.6.0"\nkind: vendor.com/gpu\n'
CONFIG_MAP = f"apiVersion: v1\nkind: ConfigMap\ndata:\n  spec.yaml: |\n    {CDI}"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("apiVersion: v1\nkind: Pod\n", (True, False)),
        ('{"kind": "Pod", "apiVersion": "v1"}', (True, False)),
        ("- apiVersion: v1\n  kind: Pod\n", (True, False)),
        (CDI, (False, True)),
        ('{\n  "cdiVersion": "0.6.0"}', (False, True)),
        (CONFIG_MAP, (True, False)),
        ("services:\n  web: {image: nginx}\n", (False, False)),
        ('{"name": "app", "version": "1.0.0"}', (False, False)),
        ("# the apiVersion of what this chart makes\nreplicas: 1\n", (False, False)),
    ],
)
def test_a_text_is_what_it_says(text: str, what: tuple[bool, bool]) -> None:
    assert (is_object(text), is_specification(Path("some/file.yaml"), text)) == what


@pytest.mark.parametrize("place", ["/etc/cdi/x.json", "/var/run/cdi/x.yaml", "copy/cdi/x.json"])
def test_what_stands_in_a_cdi_directory_is_a_specification(place: str) -> None:
    assert is_specification(Path(place), "{")


@pytest.mark.parametrize(
    ("name", "text", "is_one"),
    [
        ("config.toml", "version = 2\n", True),
        ("config.toml", "# nothing is set\n", True),
        ("config.toml", "version = \n", True),
        ("99-nvidia.toml", '[plugins."io.containerd.grpc.v1.cri"]\n', True),
        ("99-nvidia.toml", "[plugins.'io.containerd.grpc.v1.cri'.containerd\nx", True),
        ("config.toml.tmpl", '[plugins."io.containerd.grpc.v1.cri"]\n{{ .NodeConfig }}\n', True),
        ("containerd.conf", 'imports = ["/etc/containerd/conf.d/*.toml"]\n', True),
        ("/etc/containerd/config.toml", "garbage\n", True),
        ("pyproject.toml", '[project]\nname = "x"\nversion = "1"\n', False),
        ("uv.toml", "version = 1\n[[package]]\nname = 'x'\n", False),
        ("Cargo.lock", "version = 4\n", False),
        ("config.toml", "[build]\njobs = 4\n", False),
        ("hostname", "gpu-a\n", False),
        ("docker-compose.yml", "version: 3\nplugins: []\n", False),
        ("README.md", "plugins are read from /etc\n", False),
    ],
)
def test_containerds_configuration_is_told_by_its_place_or_by_its_keys(name: str, text: str, is_one: bool) -> None:
    assert is_containerd(Path(name), text) is is_one


def test_a_drop_in_beside_a_configuration_is_one(tmp_path: Path) -> None:
    drop_in = tmp_path / "conf.d/10-debug.toml"
    assert not is_containerd(drop_in, '[debug]\nlevel = "debug"\n')
    (tmp_path / "config.toml").write_text("version = 2\n")
    assert is_containerd(drop_in, '[debug]\nlevel = "debug"\n')


@pytest.mark.parametrize(
    "text", ["\n" * 2_000_000, " " * 2_000_000, "#" * 2_000_000, "{" * 2_000_000, "[\n" * 1_000_000]
)
def test_hostile_text_is_told_in_time(text: str) -> None:
    started = time.process_time()
    _ = is_object(text), is_specification(Path("x.json"), text), is_containerd(Path("x.toml"), text)
    assert time.process_time() - started < 5
