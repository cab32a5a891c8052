"""The command as a user runs it: exit codes, streams, colours, width, JSON by its schema, start-up."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

BUNDLES = Path(__file__).parents[1] / "bundles"
SCHEMA = json.loads((Path(__file__).parents[2] / "docs/reference/diagnosis.v1alpha1.schema.json").read_text())
ASKS = [
    (path.with_suffix(".tgz"), case["ask"], case.get("namespace", "default"), case["exit"])
    for path in sorted(BUNDLES.glob("*.yaml"))
    for case in yaml.safe_load(path.read_text())["cases"]
]


def run(
    *arguments: str, env: dict[str, str] | None = None, stdin: bytes | None = None
) -> subprocess.CompletedProcess[str]:
    """`lockgate ARGUMENTS` without anything of the caller's environment that could matter."""
    clean = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM", "KUBECONFIG", "COLUMNS")}
    return subprocess.run(
        [sys.executable, "-m", "lockgate.cli.main", *arguments],
        env=clean | (env or {}),
        input=None if stdin is None else stdin.decode(),
        stdin=subprocess.DEVNULL if stdin is None else None,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_exit_code_is_the_verdict_and_text_goes_to_stdout_only() -> None:
    healthy = run("why", "train", "--from", str(BUNDLES / "healthy.tgz"))
    broken = run("why", "pod/late", "-n", "default", "--from", str(BUNDLES / "all-held.tgz"))
    assert (healthy.returncode, broken.returncode) == (0, 3)
    assert healthy.stdout.startswith("HEALTHY  pod/train in default")
    assert broken.stdout.startswith("BROKEN  pod/late in default: Every GPU is held")
    assert (healthy.stderr, broken.stderr) == ("", "")


@pytest.mark.parametrize(("bundle", "ask", "namespace", "code"), ASKS, ids=lambda v: getattr(v, "stem", str(v)))
def test_every_answer_fits_100_columns_and_its_json_fits_the_schema(
    bundle: Path, ask: str, namespace: str, code: int
) -> None:
    where = ("-n", namespace) if ask else ()
    text = run("why", ask, *where, "--from", str(bundle))
    report = run("why", ask, *where, "--from", str(bundle), "-o", "json")
    assert (text.returncode, report.returncode) == (code, code)
    assert max(len(line) for line in text.stdout.splitlines()) <= 100
    assert "\x1b" not in text.stdout
    document = json.loads(report.stdout)
    assert violations(document, SCHEMA) == []
    assert (document["apiVersion"], document["kind"]) == ("lockgate.dev/v1alpha1", "Diagnosis")


def test_the_schema_test_notices_what_does_not_fit() -> None:
    document = json.loads(run("why", "late", "--from", str(BUNDLES / "all-held.tgz"), "-o", "json").stdout)
    assert violations(document | {"verdict": "fine"}, SCHEMA) == ["$.verdict: not one of the allowed values"]
    assert violations(document | {"extra": 1}, SCHEMA) == ["$: unknown extra"]
    del document["findings"][0]["title"]
    assert violations(document, SCHEMA) == ["$.findings[0]: lacks title"]


def violations(value: Any, schema: dict[str, Any], at: str = "$") -> list[str]:
    """What of a document breaks the part of JSON Schema that our schema uses."""
    if "$ref" in schema:
        return violations(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], at)
    if "anyOf" in schema:
        return min((violations(value, option, at) for option in schema["anyOf"]), key=len)
    if "enum" in schema:
        return [] if value in schema["enum"] else [f"{at}: not one of the allowed values"]
    types = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
    if not isinstance(value, types[schema["type"]]):
        return [f"{at}: not of type {schema['type']}"]
    if isinstance(value, list):
        return [v for i, item in enumerate(value) for v in violations(item, schema["items"], f"{at}[{i}]")]
    return _object_violations(value, schema, at) if isinstance(value, dict) else []


def _object_violations(value: dict[str, Any], schema: dict[str, Any], at: str) -> list[str]:
    known = schema["properties"]
    found = [f"{at}: lacks {name}" for name in schema.get("required", []) if name not in value]
    if schema.get("additionalProperties") is False:
        found += [f"{at}: unknown {name}" for name in value if name not in known]
    return found + [v for n, item in value.items() if n in known for v in violations(item, known[n], f"{at}.{n}")]


def test_yaml_says_what_json_says_and_markdown_can_be_pasted() -> None:
    arguments = ("why", "late", "--from", str(BUNDLES / "all-held.tgz"), "-o")
    report, same, pasted = (run(*arguments, form) for form in ("json", "yaml", "markdown"))
    ours, theirs = json.loads(report.stdout), yaml.safe_load(same.stdout)
    assert {k: v for k, v in ours.items() if k != "generatedAt"} == {
        k: v for k, v in theirs.items() if k != "generatedAt"
    }
    assert pasted.stdout.startswith("**BROKEN**: pod/late in default")
    assert "| node/node-a status.allocatable[nvidia.com/gpu] | 2 |" in pasted.stdout
    assert {r.returncode for r in (report, same, pasted)} == {3}


def test_colours_are_for_terminals_and_no_color_forbids_them() -> None:
    command = f"{sys.executable} -m lockgate.cli.main why late --from {BUNDLES / 'all-held.tgz'}"

    def on_a_terminal(prefix: str = "", suffix: str = "") -> str:
        script = ["script", "-qec", f"{prefix}{command}{suffix}", "/dev/null"]
        return subprocess.run(script, capture_output=True, text=True, timeout=60, check=False, env=_terminal()).stdout

    if not Path("/usr/bin/script").exists():
        pytest.skip("needs the program `script` to make a terminal")
    assert "\x1b[1;31mBROKEN" in on_a_terminal()
    assert "\x1b[" not in on_a_terminal(prefix="NO_COLOR=1 ")
    assert "\x1b[" not in on_a_terminal(suffix=" --no-color")


def _terminal() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ((), "usage"),
        (("wyh", "x"), 'did you mean "why"?'),
        (("why", "operand/plugn", "--from", str(BUNDLES / "healthy.tgz")), "there is: "),
        (("why", "node/nod-a", "--from", str(BUNDLES / "healthy.tgz")), "did you mean node-a"),
        (("why", "x", "-o", "xml"), "invalid choice"),
        (("why", "deplyo/x", "--from", "."), 'did you mean "deploy"?'),
        (("why", "trian", "--from", str(BUNDLES / "healthy.tgz")), "did you mean train?"),
        (("why", "train", "-n", "ml", "--from", str(BUNDLES / "healthy.tgz")), "exists in namespace default"),
        (("why", "x", "--request-timeout", "soon"), "is no duration"),
    ],
)
def test_bad_usage_ends_with_2_and_says_what_would_do(arguments: tuple[str, ...], says: str) -> None:
    result = run(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert says in result.stderr


def test_an_unreachable_cluster_ends_with_1_and_one_line(tmp_path: Path) -> None:
    config = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [{"name": "u", "user": {}}],
    }
    (tmp_path / "config").write_text(yaml.safe_dump(config))
    result = run("why", "x", "--kubeconfig", str(tmp_path / "config"), "--request-timeout", "2s")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1), result.stderr
    assert "127.0.0.1:9" in result.stderr


def test_a_missing_kubeconfig_ends_with_1_and_names_it(tmp_path: Path) -> None:
    result = run("why", "x", "--kubeconfig", str(tmp_path / "absent"))
    assert (result.returncode, result.stderr.count("\n")) == (1, 1), result.stderr
    assert "absent" in result.stderr


def test_pasted_text_is_read_from_standard_input() -> None:
    text = b"""Name:         x
Namespace:    default
Node:         <none>
Status:       Pending
Containers:
  main:
    Image:      app
    Limits:
      nvidia.com/gpu:  1
Events:
  Type     Reason            Age   From               Message
  ----     ------            ----  ----               -------
  Warning  FailedScheduling  5s    default-scheduler  0/3 nodes are available: 3 Insufficient nvidia.com/gpu.
"""
    result = run("why", "x", "--from", "-", stdin=text)
    assert result.returncode == 4
    assert result.stdout.startswith("WARNING") or result.stdout.startswith("UNKNOWN")
    assert "3 Insufficient nvidia.com/gpu" in result.stdout
    assert "kubectl get nodes -A -o json" in result.stdout
    open_ = " ".join(result.stdout.partition("Not checked")[2].split())
    assert "nodes: a description does not show it; to know it: kubectl get nodes -A -o json open: " in open_
    assert re.search(r"autoscaling/node-not-initialized, claims/asks-by-count, \S+ and \d+ more", open_)
    report = json.loads(run("why", "x", "--from", "-", "-o", "json", stdin=text).stdout)
    assert "scheduling/all-held" in {question["id"] for question in report["notChecked"]}


MANIFEST = b"""
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml}
spec: {suspend: true, template: {spec: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
"""


def test_what_stands_alone_on_standard_input_needs_no_name() -> None:
    described = b"Name:  x\nNamespace:  ml\nNode:  <none>\nStatus:  Pending\nContainers:\n  main:\n    Image:  app:1\n"
    assert "pod/x in ml" in run("why", "-", stdin=described).stdout
    job = run("why", "-", stdin=MANIFEST).stdout
    assert job.startswith("HEALTHY  job/train in ml has no pod, and wants none. ")
    assert "Note  workload/asks-for-none (A15), info\n  The Job is suspended. Job train: spec.suspend is true." in job
    two = described + b"\n\n" + described.replace(b"x\n", b"y\n", 1)
    assert "pod/y in ml" in run("why", "pod/y", "--from", "-", stdin=two).stdout


_HEAD = "NAMESPACE   LAST SEEN   TYPE      REASON                   OBJECT           MESSAGE\n"
_NO_HANDLER = 'failed to get sandbox runtime: no runtime for "nvidia" is configured'


def _events(*rows: tuple[str, str, str, str, str]) -> bytes:
    line = "{0:<12}12s         {1:<10}{2:<25}{3:<17}{4}\n"
    return (_HEAD + "".join(line.format(*row) for row in rows)).encode()


def test_of_many_objects_all_that_are_not_well_are_judged_at_once() -> None:
    text = _events(
        ("ml", "Warning", "FailedCreatePodSandBox", "pod/a", _NO_HANDLER),
        ("ml", "Warning", "FailedCreate", "job/train", 'pods "t" is forbidden: exceeded quota: gpu'),
        ("dev", "Normal", "Pulled", "pod/coredns", "Container image already present on machine"),
    )
    result = run("why", "-", stdin=text)
    assert result.returncode == 3
    assert result.stdout.startswith("BROKEN  standard input, 2 causes, worst first: ")
    assert "pod/ml/a event" in result.stdout and "job/ml/train event" in result.stdout
    assert "coredns" not in result.stdout
    one = run("why", "-", "-n", "ml", "-o", "json", stdin=text)
    assert json.loads(one.stdout)["target"] == {"kind": "Objects", "name": "standard input", "namespace": "ml"}


def test_the_one_object_with_a_warning_is_what_an_event_list_is_asked_about() -> None:
    text = _events(
        ("ml", "Normal", "Scheduled", "pod/b", "Successfully assigned ml/b to gpu-a"),
        ("ml", "Warning", "FailedCreatePodSandBox", "pod/a", _NO_HANDLER),
    )
    result = run("why", "-", stdin=text)
    assert (result.returncode, result.stdout.partition(":")[0]) == (3, "BROKEN  pod/a in ml")


def test_where_no_event_warns_nothing_is_said_to_be_wrong() -> None:
    text = _events(
        ("ml", "Normal", "Pulling", "pod/a", 'Pulling image "a:1"'),
        ("ml", "Normal", "Pulling", "pod/b", 'Pulling image "b:1"'),
    )
    result = run("why", "-", stdin=text)
    assert result.returncode == 4
    assert result.stdout.startswith("UNKNOWN  standard input: 2 objects looked at")


@pytest.mark.parametrize("kind", ["daemonset", "replicaset", "statefulset", "job", "deployment"])
def test_an_event_list_may_be_of_any_workload(kind: str) -> None:
    refused = 'Error creating: pods "x-0" is forbidden: pod rejected: RuntimeClass "nvidia" not found'
    result = run("why", "-", stdin=_events(("ml", "Warning", "FailedCreate", f"{kind}/x", refused)))
    assert (result.returncode, result.stdout.partition(":")[0]) == (3, f"BROKEN  {kind}/x in ml")
    assert "admission/runtime-class-missing (A03)" in result.stdout


def _pod(name: str, namespace: str, image_fails: bool, owner: str = "") -> dict[str, Any]:
    waiting = {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}
    owners = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": "u"}] if owner else []
    status = {"name": "main", "ready": not image_fails, "state": waiting if image_fails else {"running": {}}}
    ready = {"type": "Ready", "status": "False" if image_fails else "True"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "ownerReferences": owners},
        "spec": {
            "nodeName": "gpu-a",
            "containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
        },
        "status": {
            "phase": "Pending" if image_fails else "Running",
            "conditions": [ready],
            "containerStatuses": [status],
        },
    }


@pytest.mark.parametrize(("other", "asked"), [("dev", "the cluster"), ("ml", "standard input")])
def test_a_list_of_pods_is_judged_whole_also_where_another_list_would_hold_their_owners(other: str, asked: str) -> None:
    items = [_pod("well", other, False), _pod("sick", "ml", True, owner="web")]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}).encode()
    result = run("why", "-", stdin=listed)
    assert result.returncode == 3
    assert result.stdout.startswith(f"NOT A GPU FAULT  {asked}: The image cannot be pulled")
    assert "pod/ml/sick status" in result.stdout


HELD = ("--from", str(BUNDLES / "all-held.tgz"))


@pytest.mark.parametrize(
    "command",
    [
        ("why", *HELD),
        ("why", "late", "-o", "json", *HELD),
        ("why", "late", "-o", "yaml", *HELD),
        ("survey", *HELD),
        ("capacity", *HELD),
        ("fit", "--gpus", "9", *HELD),
        ("what-if", "--drain", "node-a", *HELD),
        ("lint", str(BUNDLES / "dropin-trap.tgz"), "--node", "gpu-b"),
        ("bundle", "show", str(BUNDLES / "all-held.tgz")),
        ("explain", "capacity", *HELD),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_reader_that_goes_away_is_no_error_and_changes_no_exit_code(command: tuple[str, ...]) -> None:
    told = run(*command)
    assert told.stdout
    reader, writer = os.pipe()
    os.close(reader)
    unheard = subprocess.run(
        [sys.executable, "-m", "lockgate.cli.main", *command],
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert (unheard.returncode, unheard.stderr) == (told.returncode, told.stderr)


def test_a_message_is_one_line_in_a_pipe_and_wrapped_on_a_terminal(tmp_path: Path) -> None:
    file = tmp_path / "pods.txt"
    file.write_text("NAME      READY   STATUS    RESTARTS   AGE\ntrain-0   0/1     Pending   0          5m\n")
    command = ["why", "--from", str(file)]
    piped = run(*command).stderr
    assert piped.count("\n") == 1 and len(piped) > 100
    ours, theirs = os.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "lockgate.cli.main", *command], stdout=subprocess.DEVNULL, stderr=theirs, check=False
    )
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode().splitlines()
    os.close(ours)
    assert done.returncode == 2
    assert len(shown) > 1 and all(len(line) <= 100 for line in shown)
    assert " ".join(" ".join(shown).split()) == " ".join(piped.split())


def test_help_is_there_at_once() -> None:
    """A budget of 0.10 s, on a machine that may be busy: the best of some tries; and what it must not import."""

    def seconds() -> float:
        started = time.perf_counter()
        assert run("--help").returncode == 0
        return time.perf_counter() - started

    assert min(seconds() for _ in range(7)) < 0.2
    code = "import sys; from lockgate.cli.main import main\ntry: main(['why', '--help'])\nexcept SystemExit: pass\n"
    code += "print(sorted({'asyncio', 'ssl', 'msgspec', 'yaml', 'rich', 'httpx2'} & set(sys.modules)), file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert result.stderr.strip() == "[]"
    assert "examples:" in result.stdout
