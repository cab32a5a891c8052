"""Layouts that work are silent: what containerd, NVIDIA's toolkit, K3s and people's templates write."""

import pytest

from lockgate.cli.render.effective_toml import render_toml
from lockgate.containerd import Effective, Release, resolve
from lockgate.lint import all_rules
from lockgate.lint.engine import lint
from lockgate.lint.subject import Subject
from tools.lint_cases import TOP_LEVEL

RELEASES = (
    "1.6.20",
    "1.6.36",
    "1.7.13",
    "1.7.24",
    "1.7.27",
    "2.0.0",
    "2.0.8",
    "2.1.9",
    "2.2.1",
    "2.3.4",
    "2.3.7",
    "2.4.2",
)
CRI, RUNTIME = 'plugins."io.containerd.grpc.v1.cri"', 'plugins."io.containerd.cri.v1.runtime"'
DROPIN = "/etc/containerd/conf.d/99-nvidia.toml"
IMPORTING = 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n'
TOOLKIT = "/usr/local/nvidia/toolkit/nvidia-container-runtime"
PLUGIN_SPEC = """cdiVersion: "0.5.0"
kind: k8s.device-plugin.nvidia.com/gpu
devices:
- name: GPU-1
  containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
"""


def handler(name: str, binary: str = "", section: str = CRI) -> str:
    """A runtime as a toolkit writes it: the five keys, empty ones too, and options."""
    table = f"{section}.containerd.runtimes.{name}"
    options = f'BinaryName = "{binary}"\n' if binary else ""
    return (
        f'[{table}]\nprivileged_without_host_devices = false\nruntime_engine = ""\nruntime_root = ""\n'
        f'runtime_type = "io.containerd.runc.v2"\n[{table}.options]\n{options}SystemdCgroup = true\n'
    )


HANDLERS = handler("runc") + "".join(
    handler(f"nvidia{mode}", f"{TOOLKIT}{mode.replace('-', '.')}") for mode in ("", "-cdi", "-legacy")
)
LAYOUTS = {
    "nvidia is the default runtime": {
        TOP_LEVEL: IMPORTING,
        DROPIN: f"version = 2\n[{CRI}]\nenable_cdi = true\n"
        f'[{CRI}.containerd]\ndefault_runtime_name = "nvidia"\n{HANDLERS}',
    },
    "the toolkit's default over the top-level file's, which it repeats": {
        TOP_LEVEL: f'{IMPORTING}[{CRI}.containerd]\ndefault_runtime_name = "runc"\n{handler("runc")}',
        DROPIN: f'version = 2\n[{CRI}.containerd]\ndefault_runtime_name = "nvidia"\n{HANDLERS}',
    },
    "runc is the default, a RuntimeClass names the handler": {TOP_LEVEL: f"version = 2\n{HANDLERS}"},
    "runc is the default and CDI is on": {
        TOP_LEVEL: f"version = 2\n[{CRI}]\nenable_cdi = true\n{handler('runc')}",
        "/var/run/cdi/k8s.device-plugin.nvidia.com-gpu.yaml": PLUGIN_SPEC,
    },
    "one handler and nothing else on containerd 2": {
        TOP_LEVEL: f"version = 2\n{handler('runc')}{handler('nvidia', TOOLKIT)}"
    },
    "a file of comments": {TOP_LEVEL: "# nothing yet\n"},
    "a template with registry, CNI and pause image in one file": {
        TOP_LEVEL: f'version = 2\noom_score = 0\n[grpc]\nmax_recv_message_size = 16777216\n[debug]\nlevel = "info"\n'
        f'[{CRI}]\nsandbox_image = "registry.example/pause:3.9"\nmax_container_log_line_size = -1\n'
        f'[{CRI}.cni]\nbin_dir = "/opt/cni/bin"\nconf_dir = "/etc/cni/net.d"\n'
        f'[{CRI}.containerd]\ndefault_runtime_name = "runc"\nsnapshotter = "overlayfs"\n{HANDLERS}'
        f'[{CRI}.registry]\nconfig_path = "/etc/containerd/certs.d"\n',
        "/etc/containerd/certs.d/docker.io/hosts.toml": 'server = "https://docker.io"\n',
    },
}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_that_works_is_silent(layout: str, release: str) -> None:
    known = Release.parse(release)
    files = dict(LAYOUTS[layout])
    if known.family.baseline == "1.6":  # it knows no CDI, so a plugin that uses it is a fault there
        files = {path: text for path, text in files.items() if "cdi" not in path}
    assert [f.summary for f in lint(Subject(files, TOP_LEVEL, known), all_rules()).findings] == []


@pytest.mark.parametrize("release", RELEASES)
def test_what_config_default_prints_is_silent(release: str) -> None:
    known = Release.parse(release)
    built_in = resolve({TOP_LEVEL: ""}, TOP_LEVEL, known)
    assert isinstance(built_in, Effective)
    text = "\n".join(line for line in render_toml(built_in).splitlines() if not line.startswith("imports"))
    report = lint(Subject({TOP_LEVEL: text}, TOP_LEVEL, known), all_rules())
    assert [f.summary for f in report.findings] == []
