"""What people really have in hand: folders, archives, single files, pasted text, odd encodings; in part or whole."""

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from lockgate.collect.errors import InputError
from lockgate.collect.offline import from_bytes, from_path
from lockgate.model.facts import Missing, Snapshot

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "x", "namespace": "ml", "creationTimestamp": "2026-11-29T18:56:40Z", "labels": None},
    "spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}], "tolerations": None},
    "status": {"phase": "Pending", "conditions": None},
}
NODE = {"kind": "Node", "metadata": {"name": "gpu-a"}, "status": {"capacity": {"nvidia.com/gpu": "2"}}}


def _list(*items: Any) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)}).encode()


def _read(path: Path) -> Snapshot:
    return from_path(str(path), io.BytesIO())


def _folder(root: Path) -> Path:
    files = {
        "cluster/pods.json": _list(POD),
        "cluster/nodes.yaml": b"kind: List\nitems: [{kind: Node, metadata: {name: gpu-a, uid: 2026-11-29}}]\n",
        "cluster/deployments.json": json.dumps(
            {"kind": "DeploymentList", "items": [{"metadata": {"name": "d"}}]}
        ).encode(),
        "cluster/secrets.json": b"not even JSON",
        "logs/ml/x/main.log": b"one\ntwo \xff\n",
        "logs/ml/x/main.previous.log": b"before\n",
        "nodes/gpu-a/etc/containerd/config.toml": b"version = 2\n",
        "nodes/gpu-a/etc/shadow": b"secret",
        "nodes/gpu-a/containerd-version.txt": b"containerd github.com/containerd/containerd v1.7.27\n",
    }
    for path, data in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def _check(facts: Snapshot) -> None:
    assert not isinstance(facts.pods, Missing)
    assert not isinstance(facts.nodes, Missing)
    assert not isinstance(facts.logs, Missing)
    assert not isinstance(facts.node_files, Missing)
    assert not isinstance(facts.deployments, Missing)
    assert [(p.namespace, p.name) for p in facts.pods] == [("ml", "x")]
    assert [n.name for n in facts.nodes] == ["gpu-a"]
    assert [(d.kind, d.name) for d in facts.deployments] == [("Deployment", "d")]
    assert [(log.previous, log.text) for log in facts.logs] == [(False, "one\ntwo \ufffd\n"), (True, "before\n")]
    assert list(facts.node_files[0].files) == ["/etc/containerd/config.toml"]
    assert "v1.7.27" in facts.node_files[0].outputs["containerd-version"]
    assert isinstance(facts.events, Missing)
    assert facts.events.reason == "no cluster/events.json"
    assert facts.taken_at is not None
    assert facts.taken_at.isoformat() == "2026-11-29T18:56:40+00:00"


def test_a_folder_is_read(tmp_path: Path) -> None:
    _check(_read(_folder(tmp_path / "bundle")))


def test_the_heartbeats_of_nodes_tell_when_a_folder_was_taken(tmp_path: Path) -> None:
    old, beat = "2026-11-20T00:00:00Z", "2026-11-29T18:00:00Z"
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": old, "lastHeartbeatTime": beat}
    node = {"metadata": {"name": "gpu-a", "creationTimestamp": old}, "status": {"conditions": [ready]}}
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster/nodes.json").write_text(json.dumps({"kind": "NodeList", "items": [node]}))
    taken_at = _read(tmp_path).taken_at
    assert taken_at is not None
    assert taken_at.isoformat() == "2026-11-29T18:00:00+00:00"


def test_a_folder_with_one_folder_above_is_read(tmp_path: Path) -> None:
    _folder(tmp_path / "some" / "bundle")
    _check(_read(tmp_path / "some"))


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tgz"])
def test_a_tar_of_a_folder_is_read(tmp_path: Path, suffix: str) -> None:
    with tarfile.open(tmp_path / f"b.{suffix}", "w" if suffix == "tar" else "w:gz") as tar:
        tar.add(_folder(tmp_path / "bundle"), "bundle")
    _check(_read(tmp_path / f"b.{suffix}"))


def test_a_zip_of_a_folder_is_read(tmp_path: Path) -> None:
    root = _folder(tmp_path / "bundle")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        for path in sorted(root.rglob("*")):
            archive.write(path, path.relative_to(tmp_path))
    _check(_read(tmp_path / "b.zip"))


def test_one_pod_tells_nothing_of_what_other_pods_hold() -> None:
    facts = from_bytes("pod.json", json.dumps(POD).encode())
    assert isinstance(facts.pods, Missing)
    assert [p.name for p in facts.known_pods] == ["x"]
    assert isinstance(facts.nodes, Missing)
    assert "kubectl get nodes" in facts.nodes.how


def test_pods_of_several_namespaces_are_those_of_the_cluster() -> None:
    other = POD | {"metadata": {"name": "y", "namespace": "kube-system"}}
    facts = from_bytes("pods.json", _list(POD, other, NODE))
    assert not isinstance(facts.pods, Missing)
    assert not isinstance(facts.nodes, Missing)
    assert (len(facts.pods), len(facts.nodes)) == (2, 1)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(json.dumps(POD).encode("utf-8-sig"), id="byte order mark"),
        pytest.param(json.dumps(POD).encode("utf-16"), id="UTF-16 of a PowerShell redirect"),
        pytest.param(json.dumps(POD).encode("utf-16-le"), id="UTF-16 that lost its mark"),
        pytest.param("kind: Pod\nmetadata: {name: x, namespace: ml}\n".encode("utf-16-be"), id="YAML likewise"),
        pytest.param(b"\n\n" + json.dumps(POD).encode(), id="blank lines first"),
        pytest.param(b"kind: Pod\nmetadata:\n  name: x\n  namespace: ml\n", id="YAML"),
        pytest.param(b"---\nkind: Pod\nmetadata: &m {name: x, namespace: ml}\nother: *m\n", id="YAML with an alias"),
    ],
)
def test_a_pod_is_read_however_it_was_written(data: bytes) -> None:
    assert [(p.namespace, p.name) for p in from_bytes("x", data).known_pods] == [("ml", "x")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_file_that_was_compressed_alone_is_read(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "pods.json.gz").write_bytes(gzip.compress(json.dumps(POD).encode(encoding)))
    facts = from_path(str(tmp_path / "pods.json.gz"), io.BytesIO())
    assert [pod.name for pod in facts.known_pods] == ["x"]


def test_standard_input_is_read() -> None:
    facts = from_path("-", io.BytesIO(json.dumps(POD).encode()))
    assert [p.name for p in facts.known_pods] == ["x"]


def test_an_empty_list_is_known_to_be_empty_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster" / "pods.json").write_bytes(_list())
    assert _read(tmp_path).pods == ()


def test_an_empty_list_alone_is_refused() -> None:
    with pytest.raises(InputError, match="an empty list"):
        from_bytes("a.json", _list())


SANDBOX = 'Failed to create pod sandbox: no runtime for "nvidia" is configured'
DESCRIBED = f"""\
Name:                train-0
Namespace:           ml
Priority:            0
Runtime Class Name:  nvidia
Node:                gpu-a/10.0.0.2
Start Time:          Sun, 29 Nov 2026 19:03:16 +0000
Labels:              app=train
                     team=a
Annotations:         <none>
Status:              Pending
IP:
IPs:                 <none>
Controlled By:       StatefulSet/train
Init Containers:
  prepare:
    Image:          busybox:1
    State:          Terminated
      Reason:       Completed
      Exit Code:    0
    Ready:          True
    Restart Count:  0
Containers:
  main:
    Container ID:
    Image:         cuda:12
    Command:
      nvidia-smi
      -L
    State:          Waiting
      Reason:       ContainerCreating
    Last State:     Terminated
      Reason:       Error
      Exit Code:    2
    Ready:          False
    Restart Count:  3
    Limits:
      cpu:             500m
      nvidia.com/gpu:  1
    Requests:
      nvidia.com/gpu:  1
    Environment:       <none>
Conditions:
  Type                        Status
  PodReadyToStartContainers   False
  PodScheduled                True
Volumes:
  data:
    Type:       PersistentVolumeClaim (a reference to a PersistentVolumeClaim in the same namespace)
    ClaimName:  data-train-0
    ReadOnly:   false
  kube-api-access-9gw4l:
    Type:                    Projected (a volume that contains injected data from multiple sources)
QoS Class:                   Burstable
Node-Selectors:              nvidia.com/gpu.present=true
Tolerations:                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
                             sku=gpu:NoSchedule
Events:
  Type     Reason                  Age                From               Message
  ----     ------                  ----               ----               -------
  Normal   Scheduled               2m3s               default-scheduler  Successfully assigned ml/train-0 to gpu-a
  Warning  FailedCreatePodSandBox  3s (x11 over 2m3s)  kubelet            {SANDBOX}
"""


def test_a_description_of_a_pod_is_read() -> None:
    facts = from_bytes("pasted", DESCRIBED.encode())
    pod = facts.known_pods[0]
    main = pod.spec.containers[0]
    assert (pod.name, pod.namespace, pod.status.phase) == ("train-0", "ml", "Pending")
    assert (pod.spec.node_name, pod.spec.runtime_class_name) == ("gpu-a", "nvidia")
    assert pod.metadata.labels == {"app": "train", "team": "a"}
    assert [(o.kind, o.name) for o in pod.metadata.owner_references] == [("StatefulSet", "train")]
    assert (main.image, main.command) == ("cuda:12", ("nvidia-smi", "-L"))
    assert (main.resources.limits, main.resources.requests) == (
        {"cpu": "500m", "nvidia.com/gpu": "1"},
        {"nvidia.com/gpu": "1"},
    )
    status = pod.status.container_statuses[0]
    assert status.state.waiting is not None
    assert status.last_state.terminated is not None
    assert (status.state.waiting.reason, status.last_state.terminated.exit_code, status.restart_count) == (
        "ContainerCreating",
        2,
        3,
    )
    assert [(v.name, v.persistent_volume_claim.claim_name) for v in pod.spec.volumes if v.persistent_volume_claim] == [
        ("data", "data-train-0")
    ]
    assert pod.spec.node_selector == {"nvidia.com/gpu.present": "true"}
    assert [(t.key, t.operator, t.value, t.effect) for t in pod.spec.tolerations] == [
        ("node.kubernetes.io/not-ready", "Exists", "", "NoExecute"),
        ("sku", "Equal", "gpu", "NoSchedule"),
    ]
    assert not isinstance(facts.events, Missing)
    assert [(e.type, e.reason) for e in facts.events] == [
        ("Normal", "Scheduled"),
        ("Warning", "FailedCreatePodSandBox"),
    ]
    assert facts.events[1].text == SANDBOX
    assert isinstance(facts.nodes, Missing)


@pytest.mark.parametrize("kind", ["Pod", "Node", "Deployment"])
@pytest.mark.parametrize("metadata", [None, {}, {"generateName": "train-"}])
def test_an_object_without_a_name_is_none_of_a_cluster(kind: str, metadata: dict[str, str] | None) -> None:
    item = {"kind": kind} | ({} if metadata is None else {"metadata": metadata})
    for text in (item, {"kind": "List", "items": [item]}):
        with pytest.raises(
            InputError, match=rf"holds an object of kind {kind} without a name \(metadata.name\); expected one"
        ):
            from_bytes("a.json", json.dumps(text).encode())


FULL = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."


def _event(name: str, reason: str, text: str, minute: int) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"{name}.{minute}", "namespace": "ml"},
        "involvedObject": {"kind": "Pod", "namespace": "ml", "name": name},
        "type": "Warning",
        "reason": reason,
        "message": text,
        "lastTimestamp": f"2026-11-29T10:{minute:02d}:00Z",
    }


def test_a_list_of_events_alone_tells_of_the_pods_that_it_is_about() -> None:
    facts = from_bytes(
        "e.json",
        _list(
            _event("x", "BackOff", "Back-off restarting failed container", 9), _event("x", "FailedScheduling", FULL, 1)
        ),
    )
    assert [(pod.namespace, pod.name, pod.status.phase) for pod in facts.known_pods] == [("ml", "x", "Running")]
    assert isinstance(facts.pods, Missing)


def test_beside_objects_events_tell_of_no_pod() -> None:
    assert from_bytes("e.json", _list(_event("x", "FailedScheduling", FULL, 1), NODE)).known_pods == ()


def test_what_kubectl_writes_in_place_of_events_is_none(tmp_path: Path) -> None:
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster" / "events.yaml").write_text("error: You must be logged in to the server (Unauthorized)\n")
    events = from_path(str(tmp_path), io.BytesIO()).events
    assert isinstance(events, Missing)
    assert events.reason == "cluster/events.yaml: error: You must be logged in to the server (Unauthorized)"


@pytest.mark.parametrize(
    "before",
    [
        "Warning: v1 ComponentStatus is deprecated in v1.19+\n",
        "W1129 10:00:00.000000      12 loader.go:222] Config not found: /x\n\n",
        "user@host:~$ kubectl get pod x -o json\n",
    ],
)
def test_what_kubectl_says_beside_its_answer_is_passed_over(before: str) -> None:
    facts = from_bytes("x.json", f"{before}{json.dumps(POD, indent=4)}\n".encode())
    assert [pod.name for pod in facts.known_pods] == ["x"]


def test_colours_are_passed_over() -> None:
    told = "\x1b[33mName\x1b[0m:             \x1b[32mx\x1b[0m\nNamespace:        ml\n"
    told += "Status:           Pending\nContainers:\n  main:\n    Image: a\n"
    assert [pod.name for pod in from_bytes("-", told.encode()).known_pods] == ["x"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('Error from server (NotFound): pods "x" not found\n', "kubectl's own complaint"),
        ("NAME   READY   STATUS    RESTARTS   AGE\nx      0/1     Pending   0          5m\n", "a table of kubectl get"),
        ("[  104.2] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n", "nodes/NODE/dmesg.txt"),
        ('Nov 29 10:05:01 g1 kubelet[12]: E1129 10:05:01.1 12 pod_workers.go:1301] "x"\n', "nodes/NODE/kubelet.txt"),
        ("____\n\nStart of NVIDIA bug report log file.\n", "nodes/NODE/nvidia-bug-report.log.gz"),
        ("it does not work\n", "neither JSON nor YAML"),
    ],
)
def test_a_text_that_is_read_by_nothing_is_told_where_it_belongs(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        from_bytes("x.txt", text.encode())
