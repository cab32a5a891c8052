"""Where the toolkit works on a node of a distribution, and what a person's settings still decide."""

from pathlib import Path

from lockgate.agents.toolkit.agent import node_of
from lockgate.agents.toolkit.here import fit
from lockgate.agents.toolkit.settings import Settings, read_settings
from lockgate.host.distributions import STOCK
from tests.agents.toolkit.test_settings import OPERATOR

ETC = "/var/lib/rancher/k3s/agent/etc/containerd"
SOCKET = "/run/k3s/containerd/containerd.sock"


def k3s(root: Path, text: str = "version = 3\n") -> Path:
    """A host's root with K3s."""
    (root / ETC[1:]).mkdir(parents=True)
    (root / ETC[1:] / "config.toml").write_text(text)
    return root


def fitted(root: Path, **environ: str) -> Settings:
    settings = read_settings([], {**OPERATOR, "HOST_ROOT_MOUNT": str(root), **environ})
    return fit(settings, serves=lambda path: str(path).endswith(SOCKET))


def test_the_stock_paths_of_the_operator_give_way_to_those_of_the_distribution(tmp_path: Path) -> None:
    settings = fitted(k3s(tmp_path))
    assert settings.config_host == f"{ETC}/config.toml"
    assert settings.config == tmp_path / ETC[1:] / "config.toml"
    assert settings.drop_in == tmp_path / ETC[1:] / "config-v3.toml.d/99-nvidia.toml"
    assert settings.socket == tmp_path / SOCKET[1:]
    node = node_of(settings)
    assert (node.service.unit, node.config) == ("k3s-agent.service", f"{ETC}/config.toml")
    assert "is written by K3s" in node.fixed


def test_a_host_that_is_mounted_read_only_is_written_to_through_its_first_process(tmp_path: Path) -> None:
    settings = read_settings([], {**OPERATOR, "HOST_ROOT_MOUNT": str(k3s(tmp_path))})
    read_only = fit(settings, serves=lambda path: True, through=Path("/proc/1/root"), writable=lambda path: False)
    assert read_only.config == Path(f"/proc/1/root{ETC}/config.toml")
    assert read_only.socket == Path(f"/proc/1/root{SOCKET}")


def test_what_a_person_chose_stays(tmp_path: Path) -> None:
    chosen = {"RUNTIME_CONFIG_HOST_PATH": "/etc/mine.toml", "RUNTIME_CONFIG": "/runtime/config-dir/mine.toml"}
    settings = fitted(k3s(tmp_path), **chosen)
    assert (settings.config_host, settings.config) == ("/etc/mine.toml", Path("/runtime/config-dir/mine.toml"))
    assert settings.socket_host == SOCKET


def test_a_stock_node_keeps_the_operators_paths(tmp_path: Path) -> None:
    settings = fitted(tmp_path)
    assert settings.config_host == STOCK.config
    assert settings.config == Path("/runtime/config-dir/config.toml")
