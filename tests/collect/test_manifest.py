"""Which pod a file of workloads asks about, how many of it, and what it leaves out."""

import io
import json
from typing import Any

import pytest

from lockgate.collect.errors import InputError
from lockgate.collect.manifest import Asked, read_manifest

GPU = {"containers": [{"name": "g", "resources": {"limits": {"nvidia.com/gpu": 1}}}]}
PLAIN = {"containers": [{"name": "c"}]}


def read(*objects: dict[str, Any]) -> Asked:
    """YAML documents on standard input; JSON is YAML."""
    text = "\n---\n".join(json.dumps(each) for each in objects)
    return read_manifest("-", io.BytesIO(f"# made here\n---\n{text}\n---\n".encode()), "ml")


def made(kind: str, spec: dict[str, Any], name: str = "x") -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name}, "spec": spec}


@pytest.mark.parametrize(
    ("kind", "spec", "copies"),
    [
        ("Deployment", {"replicas": 3, "template": {"spec": GPU}}, 3),
        ("StatefulSet", {"template": {"spec": GPU}}, 1),
        ("ReplicationController", {"replicas": 2, "template": {"spec": GPU}}, 2),
        ("Job", {"template": {"spec": GPU}, "completions": 8}, 1),
        ("Job", {"template": {"spec": GPU}, "completions": 8, "parallelism": 4}, 4),
        ("Job", {"template": {"spec": GPU}, "completions": 2, "parallelism": 4}, 2),
        ("Job", {"template": {"spec": GPU}, "parallelism": 4}, 4),
        ("CronJob", {"jobTemplate": {"spec": {"parallelism": 2, "template": {"spec": GPU}}}}, 2),
        ("PyTorchJob", {"pytorchReplicaSpecs": {"Worker": {"replicas": 5, "template": {"spec": GPU}}}}, 5),
        ("Rollout", {"replicas": 4, "template": {"spec": GPU}}, 4),
        (
            "JobSet",
            {
                "replicatedJobs": [
                    {"name": "w", "replicas": 2, "template": {"spec": {"parallelism": 3, "template": {"spec": GPU}}}}
                ]
            },
            6,
        ),
    ],
)
def test_every_kind_with_a_pod_template_brings_its_pod_and_copies(kind: str, spec: dict[str, Any], copies: int) -> None:
    asked = read(made(kind, spec))
    assert (asked.name, asked.copies, asked.others) == (f"{kind} x", copies, ())
    assert (asked.pod.namespace, asked.pod.spec.containers[0].name) == ("ml", "g")


def test_of_several_documents_the_first_that_asks_for_a_gpu_is_meant_and_the_others_are_named() -> None:
    asked = read(
        made("Service", {}),
        made("Deployment", {"template": {"spec": PLAIN}}, "web"),
        made("DaemonSet", {"template": {"spec": PLAIN}}, "logs"),
        made("Pod", GPU, "train"),
    )
    assert (asked.name, asked.others) == ("Pod train", ("Deployment web", "DaemonSet logs"))


def test_groups_of_a_custom_kind_are_told_apart_by_their_place() -> None:
    head = {"headGroupSpec": {"template": {"spec": PLAIN}}}
    workers = {"workerGroupSpecs": [{"groupName": "gpu", "replicas": 3, "template": {"spec": GPU}}]}
    asked = read(made("RayCluster", {**head, **workers}, "ray"))
    assert (asked.name, asked.copies) == ("RayCluster ray (workerGroupSpecs.gpu)", 3)
    assert asked.others == ("RayCluster ray (headGroupSpec)",)
    assert "taken for 3 by its replicas" in asked.counted


@pytest.mark.parametrize(
    ("objects", "says"),
    [
        ([made("DaemonSet", {"template": {"spec": GPU}})], "DaemonSet x wants a pod on every node that it targets"),
        ([made("Service", {}), made("ConfigMap", {})], "holds Service, ConfigMap; expected a Pod, Deployment"),
        ([made("TrainJob", {"trainer": {"numNodes": 2}})], "holds TrainJob; expected"),
        ([made("Rollout", {"template": {"spec": {"containers": "no"}}})], "no valid Rollout"),
        (
            [made("Rollout", {"template": {"spec": {"containers": [{"resources": {"limits": {"cpu": "x"}}}]}}})],
            '"x" is not a Kubernetes quantity',
        ),
    ],
)
def test_what_has_no_number_of_pods_is_refused_with_the_reason(objects: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(InputError) as refused:
        read(*objects)
    assert says in str(refused.value)


def test_documents_that_are_no_objects_are_refused() -> None:
    with pytest.raises(InputError, match="plain text"):
        read_manifest("-", io.BytesIO(b"kind: Pod\n---\nhello\n"), "ml")
    with pytest.raises(InputError, match="neither JSON nor YAML"):
        read_manifest("-", io.BytesIO(b"kind: Pod\n---\n- [\n"), "ml")
