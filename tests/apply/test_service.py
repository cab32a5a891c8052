"""Restarts by signal are tested with the toolkit, on a runtime that ends, hangs or comes back late."""

import asyncio
import socket
import tempfile
from pathlib import Path

import pytest

from lockgate.apply.service import RestartError, Service, restart
from tests.host.bus import system_bus


def run(service: Service) -> None:
    asyncio.run(restart(service))


def test_systemd_that_cannot_be_asked_is_told_with_the_command(tmp_path: Path) -> None:
    service = Service(socket=tmp_path / "s", host=tmp_path, mode="systemd")
    with pytest.raises(RestartError, match=f"chroot {tmp_path} systemctl restart containerd.service: "):
        run(service)


def test_a_runtime_that_is_down_is_only_waited_for(tmp_path: Path) -> None:
    service = Service(socket=tmp_path / "s", back_within=0.3)
    with pytest.raises(RestartError, match="containerd has not come back within 0 s: nobody serves"):
        run(service)


def test_a_runtime_that_comes_up_by_itself_is_enough() -> None:
    with tempfile.TemporaryDirectory(prefix="sv-") as folder, socket.socket(socket.AF_UNIX) as server:
        path = Path(folder) / "s"

        async def come_up_later() -> None:
            await asyncio.sleep(0.3)
            server.bind(str(path))
            server.listen()

        async def both() -> object:
            _, found = await asyncio.gather(come_up_later(), restart(Service(socket=path, back_within=5.0)))
            return found

        assert asyncio.run(both()) is not None


def test_mode_none_restarts_nothing(tmp_path: Path) -> None:
    assert asyncio.run(restart(Service(socket=tmp_path / "s", mode="none"))) is None


def test_through_systemd_a_job_that_fails_is_a_failed_restart() -> None:
    with tempfile.TemporaryDirectory(prefix="bus-") as folder, system_bus(Path(folder)):
        service = Service(socket=Path(folder) / "s", host=Path(folder), mode="systemd", unit="broken.service")
        with pytest.raises(RestartError, match="its restart ended as 'failed'"):
            run(service)


def test_through_systemd_the_runtime_is_waited_for_after_the_job_is_done() -> None:
    with tempfile.TemporaryDirectory(prefix="bus-") as folder, system_bus(Path(folder)):
        service = Service(socket=Path(folder) / "s", host=Path(folder), mode="systemd", back_within=0.2)
        with pytest.raises(RestartError, match="containerd has not come back"):
            run(service)
        assert "RestartUnit containerd.service replace" in (Path(folder) / "systemd.log").read_text()
