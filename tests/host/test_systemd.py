"""Restarts through systemd, over a real dbus-daemon; what answers for systemd is a stand-in."""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.host.systemd import BUS, SystemdError, restart_unit
from tests.host.bus import system_bus


@pytest.fixture
def host() -> Iterator[Path]:
    """The root of a host with a system bus, and with systemd's log in it."""
    with tempfile.TemporaryDirectory(prefix="bus-") as folder, system_bus(Path(folder)):
        yield Path(folder)


def restart(host: Path, unit: str, timeout: float = 10.0) -> None:
    asyncio.run(restart_unit(host / BUS, unit, timeout))


def test_a_unit_is_restarted_and_the_jobs_end_waited_for(host: Path) -> None:
    restart(host, "containerd.service")
    assert (host / "systemd.log").read_text() == "ready\nSubscribe\nRestartUnit containerd.service replace\n"


def test_a_job_that_fails_is_told_with_where_to_look(host: Path) -> None:
    with pytest.raises(SystemdError, match=r"ended as 'failed': see journalctl -u broken\.service"):
        restart(host, "broken.service")


def test_a_unit_that_does_not_exist_is_told_in_systemds_words(host: Path) -> None:
    with pytest.raises(SystemdError, match=r"NoSuchUnit: Unit docker\.service not found\."):
        restart(host, "docker.service")


def test_a_job_that_does_not_end_is_not_waited_for_for_ever(host: Path) -> None:
    with pytest.raises(SystemdError, match="not done with its restart within 1 s"):
        restart(host, "slow.service", timeout=1.0)


def test_no_bus_is_told_with_its_socket(tmp_path: Path) -> None:
    with pytest.raises(SystemdError, match=f"systemd cannot be asked at {tmp_path / BUS}"):
        restart(tmp_path, "containerd.service")
