"""Long lists keep one copy of what their objects share, and lose nothing that a rule asks."""

from typing import Any

import msgspec
import pytest

from bench.estate import node, pod
from lockgate.collect.sharing import Sharing
from lockgate.model.node_state import GPUNodeState
from lockgate.model.objects import Node, Pod


def _pod(name: str = "p-1", **changes: Any) -> Pod:
    body = pod(name, "team", "node-1", gpus=2)
    body["status"] |= changes
    body["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "kept"}
    return msgspec.convert(body, Pod)


def _shaped(sharing: Sharing, value: Any) -> Any:
    shape = sharing.shape(type(value))
    assert shape is not None
    return shape(value)


def test_replicas_share_their_containers_labels_and_status() -> None:
    sharing = Sharing()
    first, second = _shaped(sharing, _pod("p-1")), _shaped(sharing, _pod("p-2"))
    assert first.spec.containers is second.spec.containers
    assert first.status.container_statuses is second.status.container_statuses
    assert (first.name, second.name) == ("p-1", "p-2")


def test_what_the_scheduler_counts_stays() -> None:
    before = _pod()
    after = _shaped(Sharing(), before)
    assert after.spec.containers == before.spec.containers
    assert after.spec.node_name == "node-1"
    assert after.metadata.owner_references == before.metadata.owner_references
    assert after.metadata.annotations == {"note": "kept"}


def test_volumes_without_a_source_that_we_read_go() -> None:
    body = pod("p", "team", "node-1")
    body["spec"]["volumes"] += [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]
    assert [v.name for v in _shaped(Sharing(), msgspec.convert(body, Pod)).spec.volumes] == ["data"]


_MOMENT = "2026-01-02T03:04:05Z"
_ENDED = {"name": "c", "restartCount": 3, "ready": True, "state": {"running": {"startedAt": _MOMENT}}}


@pytest.mark.parametrize(
    "changes",
    [{"phase": "Pending"}, {"containerStatuses": [_ENDED]}, {"containerStatuses": [_ENDED | {"ready": False}]}],
)
def test_a_pod_that_is_not_well_keeps_its_whole_status(changes: dict[str, Any]) -> None:
    before = _pod(conditions=[{"type": "Ready", "status": "True", "lastTransitionTime": _MOMENT}], **changes)
    assert _shaped(Sharing(), before).status == before.status


def test_a_pod_that_is_well_keeps_its_start_and_its_conditions() -> None:
    condition = {"type": "Ready", "status": "True", "reason": "R", "lastTransitionTime": _MOMENT}
    before = _pod(startTime=_MOMENT, conditions=[condition])
    after = _shaped(Sharing(), before).status
    assert after.start_time == before.status.start_time
    assert [(c.type, c.status, c.reason) for c in after.conditions] == [("Ready", "True", "R")]


def test_a_node_comes_out_equal() -> None:
    before = msgspec.convert(node(2), Node)
    assert _shaped(Sharing(), before) == before


def _state(name: str) -> GPUNodeState:
    files = [{"path": "/etc/containerd/config.toml", "text": "version = 2\n" * 10, "modified": f"at {name}"}]
    specs = [{"path": "/var/run/cdi/x.json", "kind": "a/b", "devices": [name], "text": "{}", "sha256": "1"}]
    body = {"metadata": {"name": name}, "status": {"runtime": {"files": files}, "cdi": {"specs": specs}}}
    return msgspec.convert(body, GPUNodeState)


def test_nodes_of_a_pool_share_the_texts_of_their_files_and_lose_those_of_specifications() -> None:
    sharing = Sharing()
    first, second = (
        _shaped(sharing, msgspec.json.decode(msgspec.json.encode(_state(n)), type=GPUNodeState)) for n in "ab"
    )
    (one,), (other,) = first.status.runtime.files, second.status.runtime.files
    assert one.text is other.text
    assert (one.modified, other.modified) == ("at a", "at b")
    (spec,) = first.status.cdi.specs
    assert (spec.text, spec.devices, spec.sha256) == ("", ("a",), "1")
