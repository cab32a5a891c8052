"""The discovery agent, against a Node that keeps field managers as the API server does."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from lockgate.agents.discovery.agent import FIELD_MANAGER, Discovery
from lockgate.kube.errors import Unreachable
from tests.agents.discovery.test_scan import PREFIX, put, put_pci


class Server:
    """One Node; server-side apply removes labels that the manager applied before and now leaves out."""

    def __init__(self) -> None:
        self.labels: dict[str, str] = {"other": "label"}
        self.annotations: dict[str, str] = {}
        self.owned: set[str] = set()
        self.applies = 0
        self.down = False

    async def get_manifest(self, resource: Any, name: str, namespace: str | None = None) -> dict[str, Any]:
        if self.down:
            raise Unreachable("get Node gpu-a: no answer")
        fields = {"f:metadata": {"f:labels": {f"f:{label}": {} for label in self.owned}}}
        managed = [{"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": fields}]
        metadata = {"labels": dict(self.labels), "annotations": self.annotations, "managedFields": managed}
        return {"metadata": metadata}

    async def apply(self, body: dict[str, Any], field_manager: str) -> None:
        assert field_manager == FIELD_MANAGER
        wanted = body["metadata"]["labels"]
        self.applies += 1
        self.labels = {k: v for k, v in self.labels.items() if k not in self.owned} | wanted
        self.owned = set(wanted)


@pytest.fixture
def host(tmp_path: Path) -> Path:
    put_pci(tmp_path, "0000:07:00.0", "0x10de", "0x030200")
    put(tmp_path, "proc/sys/kernel/osrelease", "6.8.0\n")
    return tmp_path


def look(server: Server, host: Path) -> None:
    """One turn of an agent that has just started."""
    asyncio.run(Discovery(server, "gpu-a", host).look())


def test_a_gpu_node_gets_its_labels_and_keeps_those_of_others(host: Path) -> None:
    server = Server()
    look(server, host)
    assert server.labels[f"{PREFIX}pci-10de.present"] == "true"
    assert server.labels["other"] == "label"


def test_a_restart_changes_nothing(host: Path) -> None:
    server = Server()
    look(server, host)
    look(server, host)
    assert server.applies == 1


def test_an_empty_scan_takes_no_label_away(host: Path, tmp_path: Path) -> None:
    server = Server()
    look(server, host)
    (tmp_path / "empty").mkdir()
    look(server, tmp_path / "empty")
    assert server.labels[f"{PREFIX}pci-10de.present"] == "true"
    assert server.labels[f"{PREFIX}kernel-version.full"] == "6.8.0"


def test_a_gpu_that_was_taken_out_loses_its_label_while_other_devices_are_seen(host: Path) -> None:
    server = Server()
    look(server, host)
    (host / "sys/bus/pci/devices/0000:07:00.0").unlink()
    put_pci(host, "0000:00:01.0", "0x8086", "0x020000")
    look(server, host)
    assert f"{PREFIX}pci-10de.present" not in server.labels


def test_a_new_kernel_is_labelled(host: Path) -> None:
    server = Server()
    look(server, host)
    put(host, "proc/sys/kernel/osrelease", "6.9.1\n")
    look(server, host)
    assert server.labels[f"{PREFIX}kernel-version.minor"] == "9"


def test_it_steps_aside_for_a_real_node_feature_discovery(host: Path, caplog: pytest.LogCaptureFixture) -> None:
    server = Server()
    server.annotations = {"nfd.node.kubernetes.io/feature-labels": "pci-10de.present"}
    with caplog.at_level(logging.WARNING):
        look(server, host)
    assert server.applies == 0
    assert "stepping aside" in caplog.text


def test_an_api_that_is_down_takes_no_label_away_and_is_tried_again(host: Path) -> None:
    server = Server()
    server.down = True

    async def run() -> None:
        stop = asyncio.Event()
        task = asyncio.create_task(Discovery(server, "gpu-a", host, every=0.01).run(stop))
        await asyncio.sleep(0.1)
        assert server.applies == 0
        server.down = False
        while not server.applies:
            await asyncio.sleep(0.05)
        stop.set()
        await task

    asyncio.run(asyncio.wait_for(run(), 10))
    assert server.labels[f"{PREFIX}pci-10de.present"] == "true"
