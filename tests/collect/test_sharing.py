"""Long lists keep one copy of what their objects share, and lose nothing that a rule asks."""

import io
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bench.estate import node, pod
from lockgate.collect import sharing as sharing_module
from lockgate.collect.offline import from_path
from lockgate.collect.sharing import Sharing
from lockgate.model.facts import Missing
from lockgate.model.node_state import GPUNodeState
from lockgate.model.objects import ContainerStatus, Node, Pod

BUNDLES = Path(__file__).parents[1] / "bundles"


def _pod(name: str = "p-1", **changes: Any) -> Pod:
    body = pod(name, "team", "node-1", gpus=2)
    body["status"] |= changes
    body["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "note": "kept"}
    return msgspec.convert(body, Pod)


def _shaped(sharing: Sharing, value: Any) -> Any:
    """What comes out for an object that the API server sends as JSON."""
    shape = sharing.shape(type(value))
    assert shape is not None
    return shape.make(msgspec.json.decode(msgspec.json.encode(value), type=shape.wire))


def test_replicas_share_their_containers_labels_and_status() -> None:
    sharing = Sharing()
    first, second = _shaped(sharing, _pod("p-1")), _shaped(sharing, _pod("p-2"))
    assert first.spec.containers is second.spec.containers
    assert first.status.container_statuses is second.status.container_statuses
    assert (first.name, second.name) == ("p-1", "p-2")


def _on(node: str) -> dict[str, Any]:
    """The affinity of a DaemonSet's pod, which names its node."""
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}


def test_pods_of_a_daemon_set_share_all_but_their_node() -> None:
    sharing, before = Sharing(), []
    for number, affinity in enumerate((_on("node-0"), _on("node-1"), None, _on("node-0"))):
        body = pod(f"agent-{number}", "team", f"node-{number}")
        body["spec"]["affinity"] = affinity
        before.append(msgspec.convert(body, Pod))
    shape = sharing.shape(Pod)
    assert shape is not None
    after = [shape.make(msgspec.json.decode(msgspec.json.encode(each), type=shape.wire)) for each in before]
    assert after == [_expected(each) for each in before]
    assert len({id(each.spec.containers) for each in after}) == 1
    assert after[0].spec.affinity is after[3].spec.affinity


def test_pods_with_a_name_of_one_stem_may_differ() -> None:
    sharing = Sharing()
    before = [_pod(f"p-{n}", conditions=[{"type": "Ready", "status": "True", "reason": f"r{n % 3}"}]) for n in range(9)]
    assert [_shaped(sharing, each) for each in before] == [_expected(each) for each in before]


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


# --- what comes out, said the long way round


def _known_pods() -> list[Pod]:
    """Every pod of the recorded clusters."""
    snapshots = [from_path(str(path), io.BytesIO()) for path in sorted(BUNDLES.glob("*.tgz"))]
    sections = [section for s in snapshots for section in (s.pods, s.namespace_pods)]
    return [p for section in sections if not isinstance(section, Missing) for p in section]


def _expected(before: Pod) -> Pod:
    spec = replace(before.spec, volumes=tuple(v for v in before.spec.volumes if v.has_source))
    kept = {k: v for k, v in before.metadata.annotations.items() if not k.endswith("last-applied-configuration")}
    metadata = replace(before.metadata, annotations=kept, resource_version="", generation=0)
    after = replace(before, spec=spec, metadata=metadata)
    status = before.status
    restarted = any(not s.ready or s.restart_count for s in status.container_statuses)
    if status.phase != "Running" or restarted or before.metadata.deletion_timestamp:
        return after
    conditions = tuple(replace(c, last_transition_time=None) for c in status.conditions)
    statuses = tuple(map(_timeless, status.container_statuses))
    init = tuple(map(_timeless, status.init_container_statuses))
    status = replace(status, conditions=conditions, container_statuses=statuses, init_container_statuses=init)
    return replace(after, status=status)


def _timeless(status: ContainerStatus) -> ContainerStatus:
    running = status.state.running and replace(status.state.running, started_at=None)
    ended = status.state.terminated and replace(status.state.terminated, started_at=None, finished_at=None)
    return replace(status, state=replace(status.state, running=running, terminated=ended))


def test_every_recorded_pod_comes_out_equal_but_for_what_is_said() -> None:
    sharing, known = Sharing(), _known_pods()
    assert len(known) > 300
    assert [_shaped(sharing, each) for each in known] == [_expected(each) for each in known]


def test_a_field_of_the_wrong_type_is_still_told() -> None:
    shape = Sharing().shape(Pod)
    assert shape is not None
    with pytest.raises(msgspec.ValidationError, match=r"tolerations"):
        msgspec.json.decode(b'{"spec": {"tolerations": "none"}}', type=shape.wire)


def test_copies_are_forgotten_before_their_keys_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sharing_module, "_MOST_KEYS", 20_000)
    sharing = Sharing()
    for number in range(40):
        _shaped(sharing, _pod(f"p-{number}", phase="Pending", message="x" * 10))
        _shaped(sharing, msgspec.convert(pod(f"q-{number}", f"team-{number}", "n", gpus=number), Pod))
        assert sharing.room.used <= 20_000
    assert _shaped(sharing, _pod()) == _expected(_pod())
