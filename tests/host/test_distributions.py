"""Which containerd of which distribution a node has, from directories as each distribution leaves them."""

import os
from pathlib import Path

import pytest

from lockgate.host.distributions import Place, find_place, serves

RANCHER = "/var/lib/rancher/{}/agent/etc/containerd"
K3S, RKE2 = RANCHER.format("k3s"), RANCHER.format("rke2")
K3S_SOCKET = "/run/k3s/containerd/containerd.sock"
MICROK8S = "/var/snap/microk8s/current/args/containerd-template.toml"
MICROK8S_SOCKET = "/var/snap/microk8s/common/run/containerd.sock"


def host(root: Path, **files: str) -> Path:
    for path, text in files.items():
        (root / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        (root / path.lstrip("/")).write_text(text)
    return root


def found(root: Path, *served: str, socket: str = "") -> Place:
    place = find_place(root, socket=socket, serves=lambda path: f"/{path.relative_to(root)}" in served)
    assert place is not None
    return place


def test_k3s_of_containerd_2_that_imports_its_folder_gets_the_drop_in_there(tmp_path: Path) -> None:
    config = f'version = 3\nimports = ["{K3S}/config-v3.toml.d/*.toml"]\n'
    units = {"/etc/systemd/system/k3s.service": ""}
    place = found(host(tmp_path, **{f"{K3S}/config.toml": config}, **units), K3S_SOCKET)
    assert (place.distribution, place.config, place.socket) == ("K3s", f"{K3S}/config.toml", K3S_SOCKET)
    assert place.drop_in == f"{K3S}/config-v3.toml.d/99-nvidia.toml"
    assert place.unit == "k3s.service"


@pytest.mark.parametrize(
    ("version", "template", "folder"),
    [(2, "config.toml.tmpl", "config.toml.d"), (3, "config-v3.toml.tmpl", "config-v3.toml.d")],
)
def test_k3s_that_imports_nothing_needs_a_line_in_its_template(
    tmp_path: Path, version: int, template: str, folder: str
) -> None:
    place = found(host(tmp_path, **{f"{K3S}/config.toml": f"version = {version}\n"}), K3S_SOCKET)
    assert place.drop_in == f"{K3S}/{folder}/99-nvidia.toml"
    assert f'`imports = ["{K3S}/{folder}/*.toml"]` as the first line into {K3S}/{template}' in place.fixed
    assert '`{{ template "base" . }}` below it' in place.fixed
    assert place.unit == "k3s-agent.service"


def test_rke2_is_told_from_k3s_by_its_files_since_both_have_one_socket(tmp_path: Path) -> None:
    units = {"/usr/local/lib/systemd/system/rke2-server.service": ""}
    place = found(host(tmp_path, **{f"{RKE2}/config.toml": "version = 3\n"}, **units), K3S_SOCKET)
    assert (place.distribution, place.unit) == ("RKE2", "rke2-server.service")
    assert place.config == f"{RKE2}/config.toml"


def test_of_k3s_and_rke2_on_one_machine_the_one_that_wrote_its_file_last_runs(tmp_path: Path) -> None:
    root = host(tmp_path, **{f"{K3S}/config.toml": "version = 3\n", f"{RKE2}/config.toml": "version = 3\n"})
    os.utime(root / f"{K3S}/config.toml"[1:], (1, 1))
    assert found(root, K3S_SOCKET).distribution == "RKE2"
    os.utime(root / f"{RKE2}/config.toml"[1:], (0, 0))
    assert found(root, K3S_SOCKET).distribution == "K3s"


def test_a_file_that_k0s_keeps_is_not_edited(tmp_path: Path) -> None:
    text = '# k0s_managed=true\nversion = 2\nimports = ["/run/k0s/containerd-cri.toml"]\n'
    place = found(host(tmp_path, **{"/etc/k0s/containerd.toml": text}), "/run/k0s/containerd.sock")
    assert (place.distribution, place.drop_in) == ("k0s", "/etc/k0s/containerd.d/99-nvidia.toml")
    assert "/etc/k0s/containerd.toml is kept by k0s" in place.fixed


def test_a_file_of_k0s_that_a_person_took_over_is_edited(tmp_path: Path) -> None:
    place = found(host(tmp_path, **{"/etc/k0s/containerd.toml": "version = 2\n"}), "/run/k0s/containerd.sock")
    assert place.fixed == ""


def test_microk8s_is_configured_by_its_template(tmp_path: Path) -> None:
    place = found(host(tmp_path, **{MICROK8S: "version = 2\n"}), MICROK8S_SOCKET)
    assert (place.distribution, place.config, place.fixed) == ("MicroK8s", MICROK8S, "")
    assert place.unit == "snap.microk8s.daemon-containerd.service"


def test_a_distribution_that_runs_comes_before_a_stock_containerd_beside_it(tmp_path: Path) -> None:
    files = {"/etc/containerd/config.toml": "version = 2\n", f"{K3S}/config.toml": "version = 3\n"}
    assert found(host(tmp_path, **files), "/run/containerd/containerd.sock", K3S_SOCKET).distribution == "K3s"


def test_what_is_left_of_a_distribution_that_is_gone_does_not_count(tmp_path: Path) -> None:
    files = {"/etc/containerd/config.toml": "version = 2\n", f"{K3S}/config.toml": "version = 3\n"}
    assert found(host(tmp_path, **files), "/run/containerd/containerd.sock").distribution == "containerd"


def test_a_socket_that_a_person_named_decides(tmp_path: Path) -> None:
    files = {"/etc/containerd/config.toml": "version = 2\n", MICROK8S: "version = 2\n"}
    root = host(tmp_path, **files)
    assert found(root, "/run/containerd/containerd.sock", socket=MICROK8S_SOCKET).distribution == "MicroK8s"
    assert find_place(root, socket="/run/mine.sock", serves=lambda path: True) is None


def test_a_file_that_is_no_toml_is_left_to_the_simulation(tmp_path: Path) -> None:
    assert found(host(tmp_path, **{f"{K3S}/config.toml": "= = ="}), K3S_SOCKET).distribution == "K3s"


def test_the_file_of_a_socket_alone_is_nobody(tmp_path: Path) -> None:
    assert not serves(tmp_path)
