"""Owners of pods at any depth, and namespaces: what is asked about, where no pod is there too."""

from typing import Any

import msgspec
import pytest

from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import Target, TargetMissingError, UnreadTargetError, parse_target
from lockgate.model.facts import Missing
from lockgate.model.finding import Diagnosis, Verdict
from lockgate.rules import all_rules
from tests.rules.world import snapshot

RULES = all_rules()
HELD = {"pods": {"ml/a": {"like": "running", "spec": {"nodeName": "gpu-a"}}}}
QUOTA = (
    'Error creating: pods "x" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=1, '
    "used: requests.nvidia.com/gpu=1, limited: requests.nvidia.com/gpu=1"
)


def owned(kind: str, name: str, uid: str = "") -> dict[str, Any]:
    return {"metadata": {"ownerReferences": [{"kind": kind, "name": name, "uid": uid, "controller": True}]}}


def full_node() -> dict[str, Any]:
    return {"gpu-a": {"status": {"capacity": {"nvidia.com/gpu": "1"}, "allocatable": {"nvidia.com/gpu": "1"}}}}


def why(target: str, **facts: Any) -> Diagnosis:
    return diagnose(snapshot(facts), parse_target(target, "ml"), RULES)


def held_back(**facts: Any) -> dict[str, Any]:
    """A cluster whose one GPU is held, and further facts."""
    pods = HELD["pods"] | facts.pop("pods", {})
    return {"nodes": full_node(), "pods": pods, **facts}


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("cj/x", "CronJob"),
        ("namespace/x", "Namespace"),
        ("ns/x", "Namespace"),
        ("PyTorchJob/x", "pytorchjob"),
        ("jobsets.jobset.x-k8s.io/x", "jobsets.jobset.x-k8s.io"),
    ],
)
def test_more_kinds_can_be_asked_about(typed: str, kind: str) -> None:
    assert parse_target(typed) == Target(kind, "x")


def test_a_cronjob_is_followed_through_its_job_to_the_pod() -> None:
    facts = held_back(
        cron_jobs={"ml/night": {}},
        jobs={"ml/night-1": owned("CronJob", "night") | {"status": {"active": 1}}},
        pods={"ml/night-1-x": owned("Job", "night-1")},
    )
    answer = why("cronjob/night", **facts)
    assert [f.id for f in answer.findings] == ["scheduling/all-held"]
    assert answer.findings[0].affects == ("night-1-x",)


def test_a_cronjob_whose_job_lacks_pods_names_what_refuses_them() -> None:
    answer = why(
        "cj/night",
        cron_jobs={"ml/night": {}},
        jobs={"ml/night-1": owned("CronJob", "night")},
        said=[{"about": "job/ml/night-1", "reason": "FailedCreate", "message": QUOTA}],
    )
    assert [f.id for f in answer.findings] == ["admission/quota"]
    assert answer.findings[0].summary.startswith("Job night-1 has 0 of 1 pods")


def test_a_cronjob_between_runs_is_well_and_a_suspended_one_says_so() -> None:
    done = owned("CronJob", "night") | {"status": {"conditions": [{"type": "Complete", "status": "True"}]}}
    answer = why("cj/night", cron_jobs={"ml/night": {}}, jobs={"ml/night-1": done})
    assert (answer.verdict, answer.headline) == (
        Verdict.HEALTHY,
        "cronjob/night in ml has no pod between its runs. Nothing is wrong.",
    )
    answer = why("cj/night", cron_jobs={"ml/night": {"spec": {"suspend": True}}})
    assert [f.id for f in answer.findings] == ["workload/asks-for-none"]


def test_the_whole_cluster_names_a_job_of_a_cronjob_that_lacks_pods() -> None:
    answer = why(
        "",
        nodes=full_node(),
        jobs={"ml/night-1": owned("CronJob", "night")},
        said=[{"about": "job/ml/night-1", "reason": "FailedCreate", "message": QUOTA}],
    )
    assert "admission/quota" in {f.id for f in answer.findings}


@pytest.mark.parametrize("typed", ["pytorchjob/llm", "PyTorchJobs/llm", "pytorchjobs.kubeflow.org/llm"])
def test_a_custom_owner_is_known_by_what_it_owns(typed: str) -> None:
    facts = held_back(pods={"ml/llm-worker-0": owned("PyTorchJob", "llm")})
    assert [f.id for f in why(typed, **facts).findings] == ["scheduling/all-held"]


def test_owners_of_several_levels_are_followed_also_through_a_leading_pod() -> None:
    facts = held_back(
        custom_owners={"ml/serve": {"kind": "LeaderWorkerSet"}},
        stateful_sets={
            "ml/serve": owned("LeaderWorkerSet", "serve") | {"status": {"replicas": 1}},
            "ml/serve-0": owned("Pod", "serve-0") | {"status": {"replicas": 1}},
        },
        pods={
            "ml/serve-0": owned("StatefulSet", "serve") | {"like": "running", "spec": {"nodeName": "gpu-a"}},
            "ml/serve-0-1": owned("StatefulSet", "serve-0"),
        },
    )
    (finding,) = why("leaderworkerset/serve", **facts).findings
    assert (finding.id, finding.affects) == ("scheduling/all-held", ("serve-0-1",))


def test_a_custom_owner_without_pods_is_asked_about_through_its_events() -> None:
    answer = why(
        "jobset/train",
        custom_owners={"ml/train": {"kind": "JobSet"}},
        jobs={"ml/train-w-0": owned("JobSet", "train")},
        said=[{"about": "job/ml/train-w-0", "reason": "FailedCreate", "message": QUOTA}],
    )
    assert [f.id for f in answer.findings] == ["admission/quota"]


def test_another_owner_of_the_same_name_is_not_followed() -> None:
    facts = held_back(
        jobs={"ml/x": {"metadata": {"uid": "1"}, "status": {"active": 1}}}, pods={"ml/x-1": owned("Job", "x", uid="2")}
    )
    assert why("job/x", **facts).verdict is Verdict.WAITING


def test_an_owner_that_nothing_names_is_not_there() -> None:
    with pytest.raises(TargetMissingError, match="no pod or workload among the facts names it as its owner"):
        why("rayjob/x", pods={"ml/a": {}})
    with pytest.raises(TargetMissingError, match='did you mean "job"'):
        why("mpijob/x", pods={"ml/a": {}})


# --- a namespace


def test_a_namespace_says_everything_that_is_wrong_in_it_and_nothing_else() -> None:
    answer = why(
        "namespace/ml",
        nodes=full_node(),
        pods={
            "other/a": {"like": "running", "spec": {"nodeName": "gpu-a"}},
            "other/b": {"spec": {"nodeSelector": {"no": "such"}}},
            "ml/waits": {},
        },
        deployments={"ml/infer": {"status": {"replicas": 0}}, "other/infer": {}},
        said=[{"about": "deploy/ml/infer", "reason": "FailedCreate", "message": QUOTA}],
    )
    assert {f.id for f in answer.findings} == {"scheduling/all-held", "admission/quota"}
    assert {name for f in answer.findings for name in f.affects} == {"ml/waits", "ml/infer"}


def test_a_well_namespace_says_what_was_looked_at() -> None:
    answer = why("ns/ml", nodes=full_node(), **HELD)
    assert answer.headline == "namespace/ml: 1 pod looked at, 1 asks for GPUs. Nothing is wrong."
    assert answer.exit_code == 0


def test_a_namespace_that_is_not_there_gets_near_names() -> None:
    with pytest.raises(TargetMissingError, match="did you mean ml-prod"):
        why("namespace/ml-prd", namespaces={"ml-prod": {}})
    with pytest.raises(TargetMissingError, match="cannot be looked up"):
        why("namespace/ml", missing=["namespaces", "pods", "namespace_pods"])


# --- pods by their labels


def labelled(**labels: str) -> dict[str, Any]:
    return {"metadata": {"labels": labels}}


def test_pods_are_asked_about_by_their_labels() -> None:
    facts = held_back(pods={"ml/x": labelled(app="train"), "ml/y": labelled(app="other"), "b/z": labelled(app="train")})
    answer = diagnose(snapshot(facts), Target("Pods", "app=train", "ml"), RULES)
    assert [(f.id, f.affects) for f in answer.findings] == [("scheduling/all-held", ("ml/x",))]
    everywhere = diagnose(snapshot(facts), Target("Pods", "app=train"), RULES)
    assert set(everywhere.findings[0].affects) == {"ml/x", "b/z"}
    well = diagnose(
        snapshot({"nodes": full_node(), "pods": {"ml/a": {"like": "running", "spec": {"nodeName": "gpu-a"}}}}),
        Target("Pods", "!app"),
        RULES,
    )
    assert well.headline == "pods with !app: 1 of them looked at, 1 asks for GPUs. Nothing is wrong."


def test_labels_that_no_pod_has_are_said() -> None:
    with pytest.raises(TargetMissingError, match=r"no pod in namespace ml has the labels app=x \(1 pod looked at\)"):
        diagnose(snapshot({"pods": {"ml/a": {}, "b/a": labelled(app="x")}}), Target("Pods", "app=x", "ml"), RULES)


@pytest.mark.parametrize("namespace", ["", "ml"])
def test_labels_are_not_said_to_be_nobodys_where_pods_may_not_be_listed(namespace: str) -> None:
    refused = Missing("pods is forbidden", "RBAC: list on pods", refused=True)
    facts = msgspec.structs.replace(snapshot({}), pods=refused, namespace_pods=refused, namespaces=refused)
    with pytest.raises(UnreadTargetError, match=r"labels app=x.* cannot be looked up: pods: .*RBAC: list on pods"):
        diagnose(facts, Target("Pods", "app=x", namespace), RULES)
