"""`explain`: every finding, code and topic has a page; pasted texts are recognised; the guide's questions are answered."""

# ruff: noqa: E501 - texts of real programs stay on one line

import json
import re
from pathlib import Path

import pytest

from lockgate.cli.main import VERBS
from lockgate.cli.pages import all_pages, find
from lockgate.cli.render.explain import as_text
from lockgate.cli.render.survey import PARTS
from lockgate.rules import all_rules
from tests.cli.test_why import BUNDLES, run
from tests.unpacking import unpack

TOPICS = [p for p in all_pages() if p.kind == "topic"]

# The guide's interview questions and misconceptions, and what an answer has to say.
INTERVIEW = {
    "A GPU pod is Pending. Where do you start looking?": (
        "pending",
        "capacity, allocatable, and what the pods there request",
    ),
    "Explain the path by which a pod gets a GPU": ("two-gates", "registers with the kubelet"),
    "Difference between putting the driver in a container and on the host": ("driver", "the driver is a kernel module"),
    "How is the capacity of time-slicing calculated?": ("time-slicing", "The memory that a slot guarantees is 0"),
    "How is the capacity of MIG calculated?": ("mig", "5 GB stay unused"),
    "What did you learn from the containerd drop-in incident?": ("drop-in-trap", "judge what is loaded, not the file"),
    "GPU Pod 处于 Pending 状态。从哪里开始看？": ("pending", "the event alone decides nothing"),
    "请说明 Pod 获取 GPU 的路径。": ("two-gates", "registers with the kubelet"),
    "驱动放在容器中与放在宿主机上的区别": ("driver", "the driver is a kernel module"),
    "分时复用和 MIG 的容量如何计算？": ("time-slicing", "The memory that a slot guarantees is 0"),
    "从 containerd drop-in 事故中学到了什么": ("drop-in-trap", "judge what is loaded, not the file"),
}
MISCONCEPTIONS = {
    "nvidia-smi works on the host so it works in a pod": ("two-gates", "says nothing about either gate"),
    "Writing 0.5 in requests gives half a card": ("requests", "a whole number"),
    "replicas: 5 splits the memory into 5 parts": ("time-slicing", "Nothing is divided"),
    "Once the operator is deployed the containerd configuration is safe": (
        "drop-in-trap",
        "toolkit writes files on the host",
    ),
}
TEXTS = {
    'Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "nvidia" is configured': "containerd/handler-missing",
    "failed to find runtime handler nvidia from runtime list map[crun runc]": "containerd/handler-missing",
    'Error creating: pods "x-" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=1, used: requests.nvidia.com/gpu=4, limited: requests.nvidia.com/gpu=4': "admission/quota",
    'pods "x" is forbidden: pod rejected: RuntimeClass "nvidia" not found': "admission/runtime-class-missing",
    "unresolvable CDI devices management.nvidia.com/gpu=GPU-1": "cdi/unresolvable",
    "Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected": "kubelet/refused",
    "0/3 nodes are available: 3 node(s) had untolerated taint(s).": "scheduling/untolerated-taint",
    "Warning FailedScheduling 5s default-scheduler 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.": "scheduling/all-held",
    "0/3 nodes are available: 3 Insufficient cpu.": "scheduling/other-resource",
}


# What programs call it, alone: the topic, and a rule where one names it.
WORDS = {
    "CrashLoopBackOff": ["status-words", "pod/container-failed"],
    "Init:1/3": ["status-words"],
    "TopologyAffinityError": ["status-words", "kubelet/refused"],
    "SchedulingGated": ["status-words", "scheduling/gated"],
    "failedcreatepodsandbox": ["status-words", "containerd/handler-missing"],
    "paused-for-mig-change": ["mig-manager"],
    "nvidia.com/gpu.deploy.operands": ["operands"],
    "NVIDIA_VISIBLE_DEVICES": ["sees-no-gpu"],
    "DCGM_FI_DEV_XID_ERRORS": ["xid"],
    "runtimeClassName": ["runtime-class"],
    "Requested: 1, Available: 0": ["kubelet/refused"],
    'disabled_plugins = ["cri"]': ["containerd/cri-disabled"],
    "RmInitAdapter failed!": ["driver/adapter-failed"],
    "capacity of time-slicing and MIG": ["mig", "time-slicing"],
    '"nvidia-smi": executable file not found': ["gpu-use/not-injected", "manifest/no-gpu-asked"],
}


@pytest.mark.parametrize(("word", "pages"), WORDS.items())
def test_a_word_that_kubectl_or_a_program_shows_is_known(word: str, pages: list[str]) -> None:
    assert [p.id for p in find(word)][: len(pages)] == pages


def test_characters_that_nothing_is_asked_with_find_nothing() -> None:
    assert find("你好世界") == ()


@pytest.mark.parametrize(("question", "answer"), [*INTERVIEW.items(), *MISCONCEPTIONS.items()])
def test_the_guides_questions_and_misconceptions_are_answered(question: str, answer: tuple[str, str]) -> None:
    topic, says = answer
    pages = find(question)
    assert topic in [p.id for p in pages]
    assert says in " ".join(next(p for p in pages if p.id == topic).text.split())
    assert find(topic)[0].id == topic


@pytest.mark.parametrize("question", sorted({q for p in TOPICS for q in p.asked}))
def test_each_question_finds_the_topics_that_are_asked_it_first(question: str) -> None:
    topics = [p.id for p in TOPICS if question in p.asked]
    for asked in (question, question.lower().rstrip("?")):
        assert [p.id for p in find(asked)][: len(topics)] == topics


# The rows of the guide's table of components, the leaves of its symptom tree, and what it teaches beside them.
CONCEPTS = {
    "NFD, GFD": "node-discovery",
    "driver": "driver",
    "Container Toolkit": "container-toolkit",
    "Device Plugin": "device-plugin",
    "DCGM Exporter": "dcgm-exporter",
    "MIG Manager": "mig-manager",
    "Validator": "validator",
    "Fabric Manager": "fabric-manager",
    "there is no pod object": "no-pod",
    "taint, selector, Insufficient": "pending",
    "the name is absent, the plugin has not registered": "grace",
    "capacity > allocatable": "unhealthy-devices",
    "every slot is requested": "capacity",
    "no runtime for nvidia": "runtime-class",
    "an operand stops in Init": "operands",
    "Running and nvidia-smi fails": "sees-no-gpu",
    "CDI": "cdi",
    "time-slicing": "time-slicing",
    "MIG": "mig",
    "the drop-in trap": "drop-in-trap",
    "SIGHUP": "containerd-restart",
    "XID": "xid",
    "driver upgrades": "driver-upgrade",
    "secure boot": "secure-boot",
    "one node at a time": "node-by-node",
    "hands on, read-only": "read-only-walk",
    "ClusterPolicy": "cluster-policy",
    "whole numbers in limits": "requests",
    "two gates": "two-gates",
    "CrashLoopBackOff": "status-words",
}


def test_every_concept_of_the_guide_has_its_topic_and_no_topic_stands_alone() -> None:
    assert set(CONCEPTS.values()) == {p.id for p in TOPICS}


def test_what_a_topic_is_shown_by_exists() -> None:
    ids = [r.id for r in all_rules()]
    for page in TOPICS:
        for pattern in page.shown_by:
            area = pattern.partition("/")[0]
            assert any(i.startswith(f"{area}/") for i in ids), (page.id, pattern)
        assert set(page.numbers) <= set(PARTS)


def test_a_cluster_shows_where_a_topic_and_a_finding_are_now() -> None:
    source = ("--from", str(BUNDLES / "all-held.tgz"))
    topic = run("explain", "capacity", *source)
    assert topic.returncode == 0
    assert "In this cluster now:\n\n  blocker  scheduling/all-held: " in topic.stdout
    assert "GATE 1: NUMBERS" in topic.stdout
    document = json.loads(run("explain", "all-held", *source, "-o", "json").stdout)
    assert [f["id"] for f in document["here"][0]["findings"]] == ["scheduling/all-held"]
    absent = run("explain", "quota", *source)
    assert "nothing of it is seen" in absent.stdout
    assert json.loads(run("explain", "quota", "-o", "json").stdout)["here"] is None


def test_where_what_would_show_it_was_not_read_that_is_said(tmp_path: Path) -> None:
    unpack(BUNDLES / "all-held.tgz", tmp_path)
    nodes = tmp_path / "all-held/cluster/nodes.json"
    nodes.write_bytes(nodes.read_bytes()[:-200])
    result = run("explain", "scheduling/all-held", "--from", str(tmp_path / "all-held"))
    said = " ".join(result.stdout.split())
    assert "nothing of it is seen in what was read" in said
    assert "not checked: " in said
    assert "cluster/nodes.json holds a part of the list: the file ends within it" in said
    form = run("explain", "scheduling/all-held", "--from", str(tmp_path / "all-held"), "-o", "json").stdout
    assert json.loads(form)["here"][0]["notChecked"]


def test_the_list_of_everything_fits_a_terminal_and_loses_no_word() -> None:
    listed = run("explain").stdout
    assert max(map(len, listed.splitlines())) <= 100
    words = " ".join(listed.split())
    assert [page.id for page in all_pages() if f"{page.id} {page.title}" not in words] == []


def test_where_to_look_that_cannot_be_read_is_said() -> None:
    result = run("explain", "capacity", "--from", "/no/such")
    assert (result.returncode, result.stdout, "there is no such file" in result.stderr) == (2, "", True)


def test_markdown_and_yaml_are_there_too() -> None:
    assert run("explain", "grace", "-o", "markdown").stdout.startswith("# Five minutes: ")
    assert "kind: ExplanationList" in run("explain", "grace", "-o", "yaml").stdout


@pytest.mark.parametrize(("text", "rule"), TEXTS.items())
def test_a_pasted_text_finds_the_rule_that_knows_it(text: str, rule: str) -> None:
    assert find(text)[0].id == rule


def test_one_text_with_a_dozen_causes_names_them_all() -> None:
    found = {p.id for p in find("0/3 nodes are available: 3 Insufficient nvidia.com/gpu.")}
    assert found >= {"scheduling/all-held", "operands/plugin-gone", "devices/unhealthy", "discovery/no-gpu-node"}


def test_an_unknown_text_is_not_guessed_at() -> None:
    assert find("panic: runtime error: index out of range") == ()
    result = run("explain", "all-hled")
    assert (result.returncode, result.stdout) == (2, "")
    assert "did you mean scheduling/all-held?" in result.stderr


def test_every_rule_and_every_code_has_its_page() -> None:
    for rule in all_rules():
        assert rule.id in [p.id for p in find(rule.id)]
        for code in rule.codes:
            assert rule.id in [p.id for p in find(code.lower())]


def test_the_list_names_everything_and_json_has_a_version() -> None:
    listed = run("explain").stdout
    assert [p.id for p in all_pages() if f"  {p.id} " not in listed] == []
    document = json.loads(run("explain", "C09", "-o", "json").stdout)
    assert (document["apiVersion"], document["kind"]) == ("lockgate.dev/v1alpha1", "ExplanationList")
    assert [i["id"] for i in document["items"]] == ["scheduling/all-held"]


def test_the_text_keeps_its_lines_short() -> None:
    shown = "".join(as_text([page], 1) for page in all_pages())
    assert [line for line in shown.splitlines() if len(line) > 100 and not line.startswith(("|", "  "))] == []


@pytest.mark.parametrize("page", TOPICS, ids=lambda p: p.id)
def test_the_commands_of_a_topic_can_be_typed(page: object) -> None:
    text = (Path(__file__).parents[2] / f"src/lockgate/topics/{page.id}.md").read_text()  # type: ignore[attr-defined]
    commands = re.findall(r"^kubectl gpu (.+)$", text, re.MULTILINE)
    assert commands
    for command in commands:
        words = command.split()
        assert words[0] in VERBS
        if words[0] in ("capacity", "fit", "survey", "explain") or ("NAME" not in command and words[0] == "why"):
            source = [] if words[0] == "explain" else ["--from", str(BUNDLES / "healthy-installed.tgz")]
            assert run(*words, *source).returncode in (0, 3), command
