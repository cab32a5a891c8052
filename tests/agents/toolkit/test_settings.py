from pathlib import Path

import pytest

from lockgate.agents.options import SettingsError
from lockgate.agents.toolkit.settings import read_settings

# What NVIDIA's operator gives its toolkit under the chart's default ClusterPolicy.
OPERATOR = {
    "CDI_ENABLED": "true",
    "CONTAINERD_CONFIG": "/runtime/config-dir/config.toml",
    "CONTAINERD_RUNTIME_CLASS": "nvidia",
    "CONTAINERD_SOCKET": "/runtime/sock-dir/containerd.sock",
    "CRIO_CONFIG_MODE": "config",
    "NRI_NAMESPACE": "gpu-operator",
    "NVIDIA_CONTAINER_RUNTIME_MODE": "cdi",
    "NVIDIA_RUNTIME_SET_AS_DEFAULT": "false",
    "NVIDIA_VISIBLE_DEVICES": "void",
    "ROOT": "/usr/local/nvidia",
    "RUNTIME": "containerd",
    "RUNTIME_CONFIG": "/runtime/config-dir/config.toml",
    "RUNTIME_DROP_IN_CONFIG": "/runtime/config-dir.d/99-nvidia.toml",
    "RUNTIME_DROP_IN_CONFIG_HOST_PATH": "/etc/containerd/conf.d/99-nvidia.toml",
    "RUNTIME_SOCKET": "/runtime/sock-dir/containerd.sock",
    "TOOLKIT_PID_FILE": "/run/nvidia/toolkit/toolkit.pid",
}


def test_what_nvidias_operator_says_is_understood() -> None:
    settings = read_settings([], OPERATOR)
    assert settings.config == Path("/runtime/config-dir/config.toml")
    assert settings.config_host == "/etc/containerd/config.toml"
    assert settings.drop_in_host == "/etc/containerd/conf.d/99-nvidia.toml"
    assert settings.socket_host == "/run/containerd/containerd.sock"
    assert settings.wanted.handlers == ("nvidia", "nvidia-cdi", "nvidia-legacy")
    assert (settings.wanted.enable_cdi, settings.wanted.default) == (True, None)


def test_without_mounts_of_an_operator_a_path_is_the_hosts_own() -> None:
    settings = read_settings(["--config", "/etc/k0s/containerd.toml"], {})
    assert settings.config_host == "/etc/k0s/containerd.toml"


@pytest.mark.parametrize(
    ("name", "handlers"),
    [("gpu", ("gpu", "nvidia-cdi", "nvidia-legacy")), ("nvidia-cdi", ("nvidia", "nvidia-cdi", "nvidia-legacy"))],
)
def test_a_runtime_class_of_another_name(name: str, handlers: tuple[str, ...]) -> None:
    assert read_settings([], {"CONTAINERD_RUNTIME_CLASS": name}).wanted.handlers == handlers


def test_cdi_in_the_runtime_follows_cdi_unless_told_otherwise() -> None:
    assert not read_settings([], {}).wanted.enable_cdi
    assert not read_settings([], {"CDI_ENABLED": "true", "RUNTIME_ENABLE_CDI": "false"}).wanted.enable_cdi


@pytest.mark.parametrize(
    ("environ", "config", "drop_in", "socket", "mode"),
    [
        (
            {"RUNTIME": "crio"},
            "/etc/crio/crio.conf",
            "/etc/crio/crio.conf.d/99-nvidia.toml",
            "/run/crio/crio.sock",
            "systemd",
        ),
        (
            {"RUNTIME": "docker", "RUNTIME_DROP_IN_CONFIG": "/ignored", "ROOT": "/opt/gpu"},
            "/etc/docker/daemon.json",
            "/opt/gpu/toolkit/.lockgate/daemon.json",
            "/run/docker.sock",
            "signal",
        ),
        (
            {"RUNTIME": "docker", "DOCKER_CONFIG": "/srv/daemon.json", "DOCKER_SOCKET": "/srv/docker.sock"},
            "/srv/daemon.json",
            "/usr/local/nvidia/toolkit/.lockgate/daemon.json",
            "/srv/docker.sock",
            "signal",
        ),
    ],
)
def test_each_runtime_has_its_own_places(
    environ: dict[str, str], config: str, drop_in: str, socket: str, mode: str
) -> None:
    settings = read_settings([], environ)
    assert (settings.config_host, settings.drop_in_host) == (config, drop_in)
    assert (settings.socket_host, settings.restart_mode) == (socket, mode)


def test_the_runtime_is_looked_for_where_nobody_names_it() -> None:
    assert (
        read_settings([], {"HOST_ROOT_MOUNT": "/node"}, look=lambda root: {"/node": "crio"}[str(root)]).runtime
        == "crio"
    )
    assert read_settings([], {"RUNTIME": "containerd"}, look=lambda _: "crio").runtime == "containerd"


def test_docker_has_names_of_its_own_for_what_is_wanted() -> None:
    told = {"RUNTIME": "docker", "DOCKER_RUNTIME_NAME": "gpu", "DOCKER_SET_AS_DEFAULT": "true"}
    wanted = read_settings([], told).wanted
    assert (wanted.handlers[0], wanted.default) == ("gpu", "gpu")


def test_devices_are_named_by_index_and_uuid_unless_told_otherwise() -> None:
    assert read_settings([], {}).device_names == ("index", "uuid")
    told = read_settings([], {"NVIDIA_CTK_CDI_GENERATE_DEVICE_NAME_STRATEGIES": "type-index, uuid"})
    assert told.device_names == ("type-index", "uuid")


def test_no_specification_is_wanted_where_the_folder_is_empty() -> None:
    assert read_settings([], {"CDI_OUTPUT_DIR": ""}).cdi_output_dir == ""


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"RUNTIME": "crio", "RUNTIME_RESTART_MODE": "signal"}, "crio cannot be restarted like that.* systemd, none"),
        ({"RUNTIME": "podman"}, "expected one of containerd, docker, crio"),
        ({"TOOLKIT_PID_FILE": "/run/x.pid"}, "must be toolkit.pid"),
        ({"NVIDIA_CTK_CDI_GENERATE_DEVICE_NAME_STRATEGIES": "serial"}, "expected some of index, uuid, type-index"),
        ({"RUNTIME_RESTART_MODE": "kill"}, "expected one of signal, systemd, none"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(environ: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError, match=words) as raised:
        read_settings([], environ)
    assert "\n" not in str(raised.value)
