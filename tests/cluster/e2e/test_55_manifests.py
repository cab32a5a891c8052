"""What lint says of manifests is what the real API server does with them; a live workload is judged as its file is."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

import lockgate.lint.manifest
from tests.cluster import Cluster
from tests.cluster.asking import ask
from tests.cluster.manifests import deployment, pod

pytestmark = pytest.mark.e2e

# Rule -> what the API server says of its failing cases; None: it takes them without a word.
SAID = {
    "gpu_not_whole": ("must be an integer", "quantities must match the regular expression", "unmarshal"),
    "request_without_limit": ("Limit must be set for non overcommitable resources",),
    "request_unlike_limit": ("must be equal to nvidia.com/gpu limit of",),
    "claim_undefined": ("must specify one of", "must be one of the names in pod.spec.resourceClaims"),
    "quota_key": None,
    "hpa_gpu_metric": None,
    "node_pinned": None,
    "device_variable": None,
    "cuda_index": None,
    "init_asks_more": None,
}
# Kinds whose definitions are not in the test cluster: nobody there could judge what they hold.
CUSTOM = re.compile(r"^apiVersion: \S*(?:ray\.io|kserve\.io|kubeflow\.org)/", re.MULTILINE)
AREA = Path(lockgate.lint.manifest.__file__).parent
WHOLE = {"Deployment", "StatefulSet", "DaemonSet"}
_NEEDED = {"maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "infer"}}


def failing(rule: str) -> list[str]:
    """The manifests of a rule's failing cases that a real API server could take but for the fault."""
    cases = yaml.safe_load((AREA / f"{rule}.yaml").read_text())["cases"]
    texts = [case["manifest"] for case in cases if case["kind"] == "failing"]
    return [completed(text) for text in texts if not CUSTOM.search(text)]


def completed(text: str) -> str:
    """With the fields that cases leave out since no rule reads them."""
    objects = [found for found in yaml.safe_load_all(text) if found]
    for found in objects:
        spec = found.get("spec", {})
        if found["kind"] in WHOLE:
            spec["selector"] = {"matchLabels": {"app": "x"}}
            spec["template"].setdefault("metadata", {})["labels"] = {"app": "x"}
        if found["kind"] == "StatefulSet":
            spec["serviceName"] = "x"
        if found["kind"] == "HorizontalPodAutoscaler":
            spec.update(_NEEDED)
        for template in (spec.get("template"), spec.get("jobTemplate", {}).get("spec", {}).get("template")):
            if template and found["kind"] in ("Job", "CronJob"):
                template["spec"]["restartPolicy"] = "Never"
        if found["kind"] == "CronJob":
            spec["schedule"] = "@daily"
        found.get("metadata", {}).pop("namespace", None)
    return yaml.safe_dump_all(objects)


def dry_run(cluster: Cluster, manifest: str) -> subprocess.CompletedProcess[str]:
    """What the API server would do; unknown fields are only warned of, as for a client that does not ask for more."""
    flags = ("apply", "--dry-run=server", "--validate=warn", "-f", "-")
    command = [str(cluster.program("kubectl")), "--kubeconfig", str(cluster.kubeconfig), *flags]
    return subprocess.run(command, input=manifest, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("rule", sorted(SAID))
def test_the_api_server_does_what_lint_says(cluster: Cluster, rule: str) -> None:
    said = SAID[rule]
    for manifest in failing(rule):
        answer = dry_run(cluster, manifest)
        if said is None:
            assert answer.returncode == 0, f"{manifest}\n{answer.stderr}"
        else:
            assert answer.returncode != 0, manifest
            assert any(words in answer.stderr for words in said), f"{manifest}\n{answer.stderr}"


def test_a_gpu_under_the_wrong_key_is_dropped_with_a_warning_or_refused(cluster: Cluster) -> None:
    unknown, whole_pod = failing("limits_misplaced")
    answer = dry_run(cluster, unknown.replace("runtimeClassName: nvidia", ""))
    assert answer.returncode == 0
    assert 'unknown field "spec.containers[0].limits"' in answer.stderr
    answer = dry_run(cluster, whole_pod)
    assert answer.returncode != 0
    assert "nvidia.com/gpu" in answer.stderr


def test_a_runtime_class_needs_a_handler(cluster: Cluster) -> None:
    answer = dry_run(cluster, failing("runtime_class_handler")[1].replace("name: nvidia", "name: other"))
    assert answer.returncode != 0
    assert "handler" in answer.stderr


def test_a_misspelt_resource_is_taken_where_it_has_a_domain(cluster: Cluster) -> None:
    plural, bare, *_ = failing("resource_misspelt")
    assert dry_run(cluster, plural).returncode == 0
    assert dry_run(cluster, bare.replace("nvidia/gpu", "gpu")).returncode != 0


def test_a_live_workload_is_judged_against_its_cluster(cluster: Cluster, tmp_path: Path) -> None:
    where = ("--kubeconfig", str(cluster.kubeconfig))
    cluster.apply(deployment("infer", replicas=1, gpus=1, namespace="default"))
    fine = ask("lint", "deploy/infer", "-n", "default", *where)
    assert (fine.returncode, fine.stderr) == (0, ""), fine.stdout
    wrong = {"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H200"}, "runtimeClassName": "gvisor"}
    file = tmp_path / "app.json"
    file.write_text(pod("big", gpus=3, **wrong))
    answer = ask("lint", file, "--against-cluster", "-o", "json", *where)
    assert answer.returncode == 3, answer.stderr
    assert {finding["id"] for finding in json.loads(answer.stdout)["findings"]} >= {
        "manifest/more-than-a-node",
        "manifest/runtime-class-missing",
        "manifest/selector-matches-none",
    }
