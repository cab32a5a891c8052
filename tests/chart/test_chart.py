"""The chart as Helm renders it: rights, images, the policy it makes, and values files of NVIDIA's chart."""

import json
import os
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from deploy.cache import cache_folder
from lockgate.kube.resources import find
from lockgate.model.policy import PolicySpec, parse_spec
from lockgate.model.policy.unknown import unknown_fields
from lockgate.operands.catalogue import operands
from lockgate.operands.unsupported import unsupported

ROOT = Path(__file__).parents[2]
CHART = ROOT / "deploy" / "chart"
NVIDIA = ROOT / "tests" / "truth" / "helm_values.tsv"
Manifest = dict[str, Any]


def helm() -> str | None:
    """Helm on the path, named by LOCKGATE_HELM, or built once for the test cluster."""
    cache = cache_folder() / "programs"
    built = sorted(cache.glob("helm-*/helm"))
    return os.environ.get("LOCKGATE_HELM") or shutil.which("helm") or (str(built[-1]) if built else None)


pytestmark = pytest.mark.skipif(helm() is None, reason="needs helm (make e2e builds one, or set LOCKGATE_HELM)")


def template(values: dict[str, Any] | None = None, kubernetes: str = "1.34.0") -> list[Manifest]:
    return list(_template(json.dumps(values or {}), kubernetes))


@lru_cache
def _template(values: str, kubernetes: str) -> tuple[Manifest, ...]:
    command = [str(helm()), "template", "lockgate", str(CHART), "-n", "gpu-operator", "--kube-version", kubernetes]
    done = subprocess.run([*command, "-f", "-"], input=values, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return tuple(document for document in yaml.safe_load_all(done.stdout) if document)


def of_kind(manifests: list[Manifest], *kinds: str) -> dict[str, Manifest]:
    return {m["metadata"]["name"]: m for m in manifests if m["kind"] in kinds}


def policy(values: dict[str, Any] | None = None) -> Manifest:
    found: Manifest = of_kind(template(values), "ClusterPolicy")["cluster-policy"]["spec"]
    return found


def spec(values: dict[str, Any] | None = None) -> PolicySpec:
    return parse_spec(policy(values))


def test_the_default_policy_asks_for_nothing_that_does_not_exist() -> None:
    assert unknown_fields(policy()) == ()
    assert unsupported(spec()) == ()
    assert [o.state for o in operands() if not o.enabled(spec())] == []


def test_every_required_section_is_in_the_policy() -> None:
    required = {"operator", "daemonsets", "driver", "toolkit", "devicePlugin", "dcgm", "dcgmExporter", "gfd"}
    assert required | {"nodeStatusExporter"} <= policy().keys()


def nvidia_values() -> dict[str, Any]:
    """The values of NVIDIA's chart, as its defaults have them."""
    values: dict[str, Any] = {}
    for line in NVIDIA.read_text().splitlines()[1:]:
        path, _, default = line.partition("\t")
        section, _, rest = path.partition(".")
        below = values if not rest else values.setdefault(section, {})
        keys = _keys(rest or section)
        for key in keys[:-1]:
            below = below.setdefault(key, {})
        below[keys[-1]] = json.loads(default)
    return values


def _keys(path: str) -> list[str]:
    """Two keys of the table hold dots of their own."""
    for dotted in ("kubernetes.io/os", "openshift.io/scc"):
        if path.endswith(f".{dotted}"):
            return [*path.removesuffix(f".{dotted}").split("."), dotted]
    return path.split(".")


def test_a_values_file_of_nvidias_chart_is_accepted_and_keeps_its_meaning() -> None:
    found = policy(nvidia_values())
    assert unknown_fields(found) == ()
    parsed = parse_spec(found)
    assert parsed.driver.on
    assert parsed.driver.upgrade_policy is not None
    assert parsed.driver.upgrade_policy.pod_deletion is not None, "Helm calls it gpuPodDeletion"
    assert parsed.toolkit.version == "v1.20.0"
    assert parsed.mig_manager.config is not None
    assert parsed.mig_manager.config.default == "all-disabled"


def test_without_a_policy_of_the_charts_own_none_is_made() -> None:
    assert of_kind(template({"clusterPolicy": {"deployCR": False}}), "ClusterPolicy") == {}


def test_one_image_runs_everything_of_the_chart() -> None:
    found = template({"image": {"repository": "registry/lockgate", "tag": "1.2.3", "pullSecrets": ["s"]}})
    workloads = of_kind(found, "Deployment", "DaemonSet", "Job")
    assert set(workloads) == {"gpu-operator", "lockgate-discovery", "lockgate-cleanup"}
    for workload in workloads.values():
        pod = workload["spec"]["template"]["spec"]
        assert {c["image"] for c in pod["containers"]} == {"registry/lockgate:1.2.3"}
        assert pod["imagePullSecrets"] == [{"name": "s"}]
    (operator,) = workloads["gpu-operator"]["spec"]["template"]["spec"]["containers"]
    assert {"name": "LOCKGATE_IMAGE", "value": "registry/lockgate:1.2.3"} in operator["env"]


# --- rights


def rules(manifests: list[Manifest], account: str) -> list[tuple[str, str, frozenset[str]]]:
    """(group, resource, verbs) of everything bound to a service account."""
    bindings = [m for m in manifests if m["kind"] in ("ClusterRoleBinding", "RoleBinding")]
    bound = {(m["roleRef"]["kind"], m["roleRef"]["name"]) for m in bindings if m["subjects"][0]["name"] == account}
    return [
        (group, resource, frozenset(rule["verbs"]))
        for m in manifests
        if (m["kind"], m["metadata"]["name"]) in bound
        for rule in m["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    ]


def test_no_right_is_a_wildcard_and_none_hands_out_rights() -> None:
    found = template()
    for account in of_kind(found, "ServiceAccount"):
        for group, resource, verbs in rules(found, account):
            assert "*" not in {group, resource, *verbs}, (account, resource)
            assert group != "rbac.authorization.k8s.io", account
            assert resource != "secrets", account
            assert not verbs & {"escalate", "bind", "impersonate"}, account


def test_the_operator_may_do_what_it_does_to_every_kind_of_its_operands() -> None:
    granted = {(group, resource): verbs for group, resource, verbs in rules(template(), "gpu-operator")}
    for operand in operands():
        for api_version, kind, _ in operand.objects:
            resource = find(api_version, kind)
            assert {"create", "patch", "delete"} <= granted[resource.group, resource.plural], resource.kind


def test_every_service_account_of_an_operand_is_made_by_the_chart() -> None:
    from tests.operands.test_render import context, rendered

    accounts = {m["spec"]["template"]["spec"]["serviceAccountName"] for m in rendered(context()).values()}
    assert accounts <= of_kind(template(), "ServiceAccount").keys()


@pytest.mark.parametrize(
    ("account", "wanted"),
    [
        (
            "lockgate-discovery",
            {("", "nodes"): {"get", "patch"}, ("lockgate.dev", "gpunodestates"): {"get", "create", "patch"}},
        ),
        (
            "nvidia-device-plugin",
            {("", "nodes"): {"get"}, ("lockgate.dev", "gpunodestates"): {"get", "create", "patch"}},
        ),
        (
            "nvidia-container-toolkit",
            {
                ("", "nodes"): {"get"},
                ("lockgate.dev", "gpunodestates"): {"get", "create", "patch"},
                ("apps", "daemonsets"): {"get", "list"},
            },
        ),
        (
            "nvidia-gpu-feature-discovery",
            {("", "nodes"): {"get", "patch"}, ("nfd.k8s-sigs.io", "nodefeatures"): {"get", "create", "patch"}},
        ),
        (
            "nvidia-operator-validator",
            {
                ("", "nodes"): {"get"},
                ("lockgate.dev", "gpunodestates"): {"get", "create", "patch"},
                ("apps", "daemonsets"): {"get", "list"},
            },
        ),
    ],
)
def test_an_agent_may_do_this_and_no_more(account: str, wanted: dict[tuple[str, str], set[str]]) -> None:
    assert {(group, resource): set(verbs) for group, resource, verbs in rules(template(), account)} == wanted


def test_test_pods_may_be_made_only_for_another_validator() -> None:
    found = template({"validator": {"repository": "nvcr.io/nvidia", "image": "gpu-operator", "version": "v26"}})
    granted = {resource for _, resource, _ in rules(found, "nvidia-operator-validator")}
    assert "pods" in granted


def test_an_agent_is_kept_to_its_node_where_tokens_name_one() -> None:
    names = {"lockgate-own-node-state", "lockgate-own-node-labels"}
    assert of_kind(template(), "ValidatingAdmissionPolicy").keys() == names
    assert of_kind(template(), "ValidatingAdmissionPolicyBinding").keys() == names
    assert of_kind(template(kubernetes="1.31.0"), "ValidatingAdmissionPolicy") == {}
    assert of_kind(template({"nodeAgentPolicy": {"enabled": False}}), "ValidatingAdmissionPolicy") == {}


def test_discovery_runs_on_every_node_and_steps_aside_for_another() -> None:
    pod = of_kind(template(), "DaemonSet")["lockgate-discovery"]["spec"]["template"]["spec"]
    assert pod["tolerations"] == [{"operator": "Exists"}]
    assert pod["containers"][0]["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert of_kind(template({"nfd": {"enabled": False}}), "DaemonSet") == {}


def test_uninstalling_begins_with_the_policy() -> None:
    job = of_kind(template(), "Job")["lockgate-cleanup"]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-delete"
    assert job["spec"]["template"]["spec"]["containers"][0]["command"][:2] == ["lockgate-operator", "cleanup"]


def test_the_operator_runs_without_privileges() -> None:
    pod = of_kind(template(), "Deployment")["gpu-operator"]["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"]


def test_all_pods_may_be_listed_only_for_capacity_metrics() -> None:
    """The operator's right to its own namespace's pods is another one, and is there always."""
    role = of_kind(template(), "ClusterRole")["lockgate-operator"]
    assert not any("pods" in rule["resources"] for rule in role["rules"])
    asked = template({"operator": {"capacityMetricsInterval": "60s"}})
    role = of_kind(asked, "ClusterRole")["lockgate-operator"]
    assert [rule["verbs"] for rule in role["rules"] if "pods" in rule["resources"]] == [["list"]]
    container = of_kind(asked, "Deployment")["gpu-operator"]["spec"]["template"]["spec"]["containers"][0]
    assert "--capacity-metrics-interval=60s" in container["args"]
