"""Host ports conflict by address, protocol and number."""

from typing import Any

import pytest

from lockgate.scheduling.ports import conflicts, host_ports
from tests.scheduling.build import container, pod


def ports(*declared: dict[str, Any]) -> list[dict[str, Any]]:
    return [container({}, ports=[{"containerPort": 80, **port} for port in declared])]


@pytest.mark.parametrize(
    ("one", "other", "clash"),
    [
        (("0.0.0.0", "TCP", 80), ("10.0.0.1", "TCP", 80), True),
        (("10.0.0.1", "TCP", 80), ("0.0.0.0", "TCP", 80), True),
        (("10.0.0.1", "TCP", 80), ("10.0.0.2", "TCP", 80), False),
        (("10.0.0.1", "TCP", 80), ("10.0.0.1", "UDP", 80), False),
        (("10.0.0.1", "TCP", 80), ("10.0.0.1", "TCP", 81), False),
    ],
)
def test_ports_clash(one: tuple[str, str, int], other: tuple[str, str, int], clash: bool) -> None:
    assert conflicts([one], [other]) is clash


def test_defaults_are_all_addresses_and_tcp_and_port_zero_is_none() -> None:
    assert host_ports(pod(containers=ports({"hostPort": 80}, {"hostPort": 0}))) == frozenset({("0.0.0.0", "TCP", 80)})


def test_init_containers_hold_no_port_unless_they_are_sidecars() -> None:
    (sidecar,), (init,) = ports({"hostPort": 1}), ports({"hostPort": 2})
    asked = pod(initContainers=[{**sidecar, "restartPolicy": "Always"}, init])
    assert {port for _, _, port in host_ports(asked)} == {1}
