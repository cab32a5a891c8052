"""What people paste: event lists in each of kubectl's shapes, descriptions of nodes, several objects in one text."""

# ruff: noqa: E501 - texts of real programs stay on one line

import tarfile
from pathlib import Path

import pytest

from lockgate.collect.errors import InputError
from lockgate.collect.offline import from_bytes
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.finding import Diagnosis, Verdict
from lockgate.model.objects import Toleration
from lockgate.rules import all_rules

RULES = all_rules()
FULL = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu. preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod."
NO_HANDLER = 'Failed to create pod sandbox: rpc error: code = Unknown desc = unable to get OCI runtime for sandbox "7b": no runtime for "nvidia" is configured'
REFUSED = "Pod was rejected: Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected"
QUOTA = 'Error creating: pods "infer-557bbc6c74-z4gb2" is forbidden: exceeded quota: gpu-quota, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=1, limited: requests.nvidia.com/gpu=1'
ROWS: list[tuple[str, ...]] = [
    ("27s", "Warning", "FailedScheduling", "pod/late", FULL),
    ("2m", "Normal", "Scheduled", "pod/broken", "Successfully assigned ml/broken to gpu-a"),
    ("1m (x9 over 2m)", "Warning", "FailedCreatePodSandBox", "pod/broken", NO_HANDLER),
    ("5m", "Warning", "UnexpectedAdmissionError", "pod/pinned", REFUSED),
    ("3m", "Warning", "FailedCreate", "replicaset/infer-557bbc6c74", QUOTA),
    ("9m", "Normal", "Started", "pod/fine", "Started container main"),
]


def table(rows: list[tuple[str, ...]], head: tuple[str, ...]) -> bytes:
    """Columns as kubectl aligns them: three blanks after the widest cell."""
    widths = [max(len(row[i]) for row in (head, *rows)) + 3 for i in range(len(head))]
    lines = ("".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows))
    return "".join(f"{line.rstrip()}\n" for line in lines).encode()


EVENTS = table(ROWS, ("LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"))
ALL = table([("ml", *row) for row in ROWS], ("NAMESPACE", "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"))
WIDE = table(
    [(*row[:4], "", "default-scheduler", row[4], "27s", "1", "x.18a") for row in ROWS],
    ("LAST SEEN", "TYPE", "REASON", "OBJECT", "SUBOBJECT", "SOURCE", "MESSAGE", "FIRST SEEN", "COUNT", "NAME"),
)
# `kubectl events` writes kinds with a capital; a chat took the alignment.
SHIFTED = (
    b"LAST SEEN  TYPE  REASON  OBJECT  MESSAGE\n"
    + "\n".join("  ".join((*row[:3], row[3].capitalize(), row[4])) for row in ROWS).encode()
)


def ask(data: bytes, target: str) -> Diagnosis:
    return diagnose(from_bytes("standard input", data), parse_target(target), RULES)


@pytest.mark.parametrize("data", [EVENTS, ALL, WIDE, SHIFTED], ids=["events", "all-namespaces", "wide", "shifted"])
def test_an_event_list_is_read_in_each_shape(data: bytes) -> None:
    facts = from_bytes("standard input", data)
    assert not isinstance(facts.events, Missing)
    assert [(e.involved_object.kind, e.involved_object.name) for e in facts.events[:2]] == [
        ("Pod", "late"),
        ("Pod", "broken"),
    ]
    assert [e.message for e in facts.events] == [row[4] for row in ROWS]
    assert facts.events[2].count == 9
    assert isinstance(facts.nodes, Missing)


@pytest.mark.parametrize(
    ("target", "finding"),
    [
        ("pod/broken", "containerd/handler-missing"),
        ("pod/pinned", "kubelet/refused"),
        ("rs/infer-557bbc6c74", "admission/quota"),
    ],
)
def test_what_an_event_decides_is_named(target: str, finding: str) -> None:
    assert [f.id for f in ask(EVENTS, target).findings][:1] == [finding]


UNEXPLAINED = [
    ("scheduling/unexplained", ""),
    ("scheduling/preemption-would-not-help", "scheduling/unexplained"),
]


def test_a_list_without_a_namespace_is_of_the_one_that_is_asked_about() -> None:
    facts = from_bytes("standard input", EVENTS, "ml")
    assert diagnose(facts, parse_target("pod/broken", "ml"), RULES).target.namespace == "ml"
    assert diagnose(from_bytes("-", EVENTS), parse_target("pod/broken"), RULES).target.namespace == "NAMESPACE"


QUOTA = """LAST SEEN   TYPE      REASON         OBJECT     MESSAGE
9m          Warning   FailedCreate   job/tune   Error creating: pods "tune-" is forbidden: exceeded quota: q, requested: \
requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=4, limited: requests.nvidia.com/gpu=4
""".replace("\\\n", "").encode()


def test_a_namespace_that_no_column_shows_is_asked_for_and_nobody_is_said_to_hold_nothing_there() -> None:
    answer = diagnose(from_bytes("-", QUOTA), parse_target("job/tune"), RULES)
    assert answer.findings[0].id == "admission/quota"
    assert not any("none" in (e.value, e.field) for e in answer.findings[0].evidence)
    assert answer.next[0].command == "kubectl describe quota -n NAMESPACE q"
    assert [n.how for n in answer.not_checked if n.id == "namespace"] == ["say it with -n NAMESPACE"]


def test_events_without_a_namespace_are_of_the_one_pod_of_that_name_that_is_described_beside_them() -> None:
    row = b"LAST SEEN  TYPE  REASON  OBJECT  MESSAGE\n9m  Warning  FailedScheduling  pod/w  0/1 nodes are available.\n"
    described = b"Name:         w\nNamespace:    ml\nStatus:       Pending\nContainers:\n  main:\n    Image:  app:1\n"
    facts = from_bytes("-", row + b"\n" + described)
    assert {e.involved_object.namespace for e in facts.events} == {"ml"}
    assert facts.left_out == ()


def test_what_an_event_does_not_decide_is_left_open_with_the_way_to_know() -> None:
    answer = ask(EVENTS, "pod/late")
    assert [(f.id, f.follows) for f in answer.findings] == UNEXPLAINED
    assert answer.next[0].command == "kubectl get nodes,pods,daemonsets,events -A -o json > facts.json"


def test_a_pod_that_started_is_not_called_well() -> None:
    answer = ask(EVENTS, "pod/fine")
    assert [f.id for f in answer.findings] == ["pod/not-ready"]
    assert answer.verdict is not Verdict.HEALTHY


# --- what a text does not show

SANDBOX = 'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "nvidia" is configured'
PULL = 'Failed to pull image "nvcr.io/nvidia/cuda:nope": rpc error: code = NotFound desc = failed to pull and unpack image "nvcr.io/nvidia/cuda:nope": not found'
BACK_OFF = "Back-off restarting failed container in pod train_ml(1b2c)"
# Each kind of thing that the events of a pod may say, with nothing that names its node or its container.
SAID = [
    ("FailedCreatePodSandBox", SANDBOX, "containerd/handler-missing"),
    ("UnexpectedAdmissionError", REFUSED, "kubelet/refused"),
    ("Failed", PULL, "pod/image"),
    ("Failed", "Error: ErrImagePull", "pod/image"),
    ("BackOff", BACK_OFF, "pod/container-failed"),
    ("FailedScheduling", FULL, "scheduling/unexplained"),
]


def of_one(reason: str, message: str) -> Diagnosis:
    row: tuple[str, ...] = ("3m", "Warning", reason, "pod/train", message)
    return ask(table([row], ("LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE")), "pod/train")


@pytest.mark.parametrize(("reason", "message", "finding"), SAID)
def test_of_a_pod_known_by_one_event_nothing_else_is_told(reason: str, message: str, finding: str) -> None:
    answer = of_one(reason, message)
    first = answer.findings[0]
    assert first.id == finding
    assert "not shown" not in answer.headline
    for each in first.evidence:
        assert each.verbatim == message
        assert each.object == "pod/NAMESPACE/train"
        assert each.field == f"event {reason}"
    commands = [r.command for f in answer.findings for r in f.remedy] + [n.how for n in answer.not_checked]
    assert not [c for c in commands if "its node" in c or "its container" in c or "unknown" in c or "-c main" in c]


def test_a_runtime_class_that_is_not_shown_is_an_open_question() -> None:
    answer = of_one("FailedCreatePodSandBox", SANDBOX)
    assert "nodes/default-handler-gone" not in {f.id for f in answer.findings}
    open_ = {n.id: n for n in answer.not_checked}
    assert open_["nodes/default-handler-gone"].how == "kubectl get pod -n NAMESPACE train -o json"


def test_what_the_spec_decides_is_not_ruled_out_by_events() -> None:
    ruled_out = {r.id: r.reason for r in of_one("FailedScheduling", FULL).ruled_out}
    assert "it mounts no claim" not in ruled_out.values()
    assert "pod/image" not in {r.id for r in of_one("FailedCreatePodSandBox", SANDBOX).ruled_out}


def test_a_command_asks_the_pod_for_the_node_that_is_not_shown() -> None:
    lookup = "$(kubectl get pod -n NAMESPACE train -o jsonpath={.spec.nodeName})"
    said = (
        "Failed to create pod sandbox: driver rpc error: failed to run prestart hooks: nvidia-container-cli: timed out"
    )
    commands = [r.command for f in of_one("FailedCreatePodSandBox", said).findings for r in f.remedy]
    assert all("its node" not in c for c in commands)
    described_by = [r.command for f in of_one("FailedScheduling", FULL).findings for r in f.remedy]
    assert lookup not in "".join(described_by)


def test_a_description_without_a_runtime_class_line_leaves_the_class_open() -> None:
    text = (
        "Name:             train\nNamespace:        ml\nNode:             gpu-7/10.0.0.7\nStatus:           Pending\n"
        "Containers:\n  main:\n    Image:      app:1\n    Limits:\n      nvidia.com/gpu:  1\nEvents:\n"
        f"  Warning  FailedCreatePodSandBox  2s (x9 over 2m)    kubelet            {SANDBOX}\n"
    )
    answer = ask(text.encode(), "pod/train")
    assert [f.id for f in answer.findings] == ["containerd/handler-missing"]
    assert "nodes/default-handler-gone" in {n.id for n in answer.not_checked}


# --- descriptions


def described(name: str) -> str:
    """A file of a must-gather folder: what kubectl describe printed on a real cluster."""
    with tarfile.open(Path(__file__).parent / "must_gather" / "unhealthy.tgz") as tar:
        member = next(m for m in tar.getmembers() if m.name.endswith(name))
        file = tar.extractfile(member)
        assert file is not None
        return file.read().decode()


def test_a_described_node_is_asked_about() -> None:
    text = described("gpu_nodes.descr")
    facts = from_bytes("standard input", text.encode())
    assert isinstance(facts, Snapshot)
    assert not isinstance(facts.nodes, Missing)
    assert len(facts.nodes) >= 1
    sick = next(n for n in facts.nodes if n.status.capacity["nvidia.com/gpu"] != n.status.allocatable["nvidia.com/gpu"])
    answer = ask(text.encode(), f"node/{sick.name}")
    assert [f.id for f in answer.findings][:1] == ["devices/unhealthy"]


def test_a_pod_and_its_node_in_one_text_are_joined() -> None:
    pod = (
        "Name:             pair\nNamespace:        default\nNode:             <none>\nStatus:           Pending\n"
        "Containers:\n  main:\n    Image:      app:1\n    Limits:\n      nvidia.com/gpu:  2\nEvents:\n"
        "  Type     Reason            Age   From               Message\n"
        "  ----     ------            ----  ----               -------\n"
        f"  Warning  FailedScheduling  9s    default-scheduler  {FULL}\n"
    )
    facts = from_bytes("standard input", (pod + "\n\n" + described("gpu_nodes.descr")).encode())
    assert not isinstance(facts.nodes, Missing)
    assert not isinstance(facts.namespace_pods, Missing)
    assert [p.name for p in facts.namespace_pods] == ["pair"]
    assert not isinstance(facts.events, Missing)
    assert "FailedScheduling" in [e.reason for e in facts.events]


# --- what a text was copied out of

DESCRIBED = (
    "Name:             pair\nNamespace:        ml\nNode:             <none>\nStatus:           Pending\n"
    "Containers:\n  main:\n    Image:      app:1\n    Limits:\n      nvidia.com/gpu:  2\nEvents:\n"
    "  Type     Reason            Age   From               Message\n"
    "  ----     ------            ----  ----               -------\n"
    f"  Warning  FailedScheduling  9s    default-scheduler  {FULL}\n"
)
WRAPPED = {
    "a prompt": "$ kubectl describe pod pair -n ml\n" + DESCRIBED,
    "a prompt with user and host": f"me@host:~$ kubectl describe pod pair\n{DESCRIBED}me@host:~$ \n",
    "PowerShell's prompt": "PS C:\\Users\\me> kubectl describe pod pair\n" + DESCRIBED,
    "a list": "".join(f"    {line}\n" for line in DESCRIBED.splitlines()),
    "a code block": f"```text\n{DESCRIBED}```\n",
    "a quotation": "".join(f"> {line}\n" for line in DESCRIBED.splitlines()),
    "a quoted code block with a prompt": "".join(
        f"> {line}\n" for line in f"```\n$ kubectl describe pod pair\n{DESCRIBED}```".splitlines()
    ),
    "a sentence": "this is what it says:\n\n" + DESCRIBED,
    "Windows": DESCRIBED.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("text", WRAPPED.values(), ids=WRAPPED)
def test_what_surrounds_a_description_does_not_matter(text: str) -> None:
    assert from_bytes("-", text.encode()) == from_bytes("-", DESCRIBED.encode())


def test_a_manifest_in_a_code_block_is_read() -> None:
    pod = b"```yaml\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n```\n"
    assert [p.name for p in from_bytes("-", pod).known_pods] == ["a"]


def test_a_manifest_keeps_what_looks_like_a_prompt_in_it() -> None:
    inside = b"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    x: |\n      $ kubectl get\n      ```\nspec: {}\n"
    assert from_bytes("-", inside).known_pods[0].metadata.labels == {"x": "$ kubectl get\n```\n"}


@pytest.mark.parametrize("start", ["Events:", "  Warning"], ids=["the section", "one line"])
def test_events_without_a_name_are_of_the_pod_that_is_asked_about(start: str) -> None:
    text = DESCRIBED[DESCRIBED.index(start) :].encode()
    facts = from_bytes("standard input", text, "ml", "pair")
    answer = diagnose(facts, parse_target("pod/pair", "ml"), RULES)
    assert [(f.id, f.follows) for f in answer.findings] == UNEXPLAINED
    with pytest.raises(InputError, match="whose they are; say it"):
        from_bytes("standard input", text)


@pytest.mark.parametrize("text", [b"0/4 nodes are available", b"gpu-7\n"])
def test_text_of_no_known_shape_is_answered_with_the_shapes_that_are(text: bytes) -> None:
    with pytest.raises(InputError, match=r"-o json\|yaml.*describe pod\|node.*get events.*explain"):
        from_bytes("standard input", text)


def test_documents_of_one_file_are_read_together() -> None:
    manifest = b"""
apiVersion: apps/v1
kind: Deployment
metadata: {name: infer}
spec: {template: {spec: {containers: [{name: main}]}}}
---
apiVersion: v1
kind: Service
metadata: {name: infer}
---
"""
    facts = from_bytes("all.yaml", manifest)
    assert not isinstance(facts.deployments, Missing)
    assert [d.name for d in facts.deployments] == ["infer"]


def test_the_variables_of_a_described_container_are_read() -> None:
    shown = "    Environment:\n      NVIDIA_DRIVER_CAPABILITIES:  compute\n      TOKEN:  <set to the key 'a' in secret 'b'>\n"
    text = DESCRIBED.replace("    Limits:\n", f"{shown}    Limits:\n")
    (container,) = from_bytes("-", text.encode()).known_pods[0].spec.containers
    assert [(e.name, e.value) for e in container.env] == [("NVIDIA_DRIVER_CAPABILITIES", "compute"), ("TOKEN", "")]
    assert container.resources.limits == {"nvidia.com/gpu": "2"}


# --- one file of a custom kind


def test_a_manifest_of_a_custom_owner_is_read_by_its_pod_template() -> None:
    manifest = b"""
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train, namespace: ml}
spec:
  suspend: true
  replicatedJobs:
  - name: workers
    template:
      spec:
        template:
          spec:
            containers: [{name: main, resources: {limits: {nvidia.com/gpu: 4}}}]
"""
    facts = from_bytes("jobset.yaml", manifest)
    assert not isinstance(facts.custom_owners, Missing)
    (owner,) = facts.custom_owners
    assert (owner.kind, owner.spec.template.spec.containers[0].resources.limits["nvidia.com/gpu"]) == ("JobSet", 4)
    assert [f.id for f in ask(manifest, "jobset/train").findings] == ["workload/asks-for-none"]


# --- tolerations

TOLERATIONS = [
    ("op=Exists", Toleration(operator="Exists")),
    (":NoExecute op=Exists", Toleration(operator="Exists", effect="NoExecute")),
    ("nvidia.com/gpu op=Exists", Toleration(key="nvidia.com/gpu", operator="Exists")),
    ("nvidia.com/gpu:NoSchedule op=Exists", Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule")),
    ("gpu=a:NoSchedule", Toleration(key="gpu", operator="Equal", value="a", effect="NoSchedule")),
    ("gpu=a", Toleration(key="gpu", operator="Equal", value="a")),
    ("gpu:NoSchedule", Toleration(key="gpu", operator="Equal", effect="NoSchedule")),
    (
        "gpu=a:NoExecute op=Equal for 300s",
        Toleration(key="gpu", operator="Equal", value="a", effect="NoExecute", toleration_seconds=300),
    ),
    (
        "gpu:NoExecute op=Exists for 30s",
        Toleration(key="gpu", operator="Exists", effect="NoExecute", toleration_seconds=30),
    ),
    ("<none>", None),
]


def tolerations(*lines: str) -> tuple[Toleration, ...]:
    shown = "\n                  ".join(lines)
    text = DESCRIBED.replace("Events:\n", f"Tolerations:      {shown}\nEvents:\n")
    return from_bytes("-", text.encode()).known_pods[0].spec.tolerations


@pytest.mark.parametrize(("shown", "meant"), TOLERATIONS)
def test_a_toleration_is_read_in_each_form_that_kubectl_prints(shown: str, meant: Toleration | None) -> None:
    other = Toleration(key="z", operator="Exists")
    assert tolerations(shown, "z op=Exists") == ((meant, other) if meant else (other,))


def test_a_kubectl_that_never_writes_exists_may_mean_it() -> None:
    assert tolerations("nvidia.com/gpu:NoSchedule", "gpu=a:NoSchedule") == (
        Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule"),
        Toleration(key="gpu", operator="Equal", value="a", effect="NoSchedule"),
    )


def test_a_pod_that_tolerates_everything_is_kept_off_by_no_taint() -> None:
    pod = DESCRIBED.replace("Events:\n", "Tolerations:      op=Exists\nEvents:\n")
    node = described("gpu_nodes.descr").replace("Taints:             <none>", "Taints:             a=b:NoSchedule")
    assert "a=b:NoSchedule" in node
    found = diagnose(from_bytes("-", f"{pod}\n\n{node}".encode()), parse_target("pod/pair", "ml"), RULES).findings
    assert "scheduling/untolerated-taint" not in {f.id for f in found}
