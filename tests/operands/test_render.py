"""Rendered operands against what NVIDIA's operator renders for thirteen policies. Every difference is listed here."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from lockgate.model.policy import parse_spec
from lockgate.operands.catalogue import operands
from lockgate.operands.context import Context
from tests.operands.rendered import Shape, shape, truth_shape

TRUTH = Path(__file__).parents[1] / "truth" / "operands"
DEFAULT = json.loads((TRUTH / "default.json").read_text())
VARIANTS = {row["variant"]: row for row in map(json.loads, (TRUTH / "variants.jsonl").read_text().splitlines())}
OURS = "docker.io/lockgate/lockgate:0.1.0"

TOOLKIT = "nvidia-container-toolkit-daemonset"
VALIDATOR = "nvidia-operator-validator"
PLUGIN = "nvidia-device-plugin-daemonset"
GFD = "gpu-feature-discovery"

# Path -> why; docs/decisions/0020-operands.md says it at length.
NODE_STATE = "agents publish what they see of their node"
NO_INJECTION = "handlers are aliases of runc, so the driver root is mounted instead of injected"
PACED = "the operator takes a new toolkit over the nodes itself: docs/decisions/0060-node-by-node.md"
HOST_PATHS = "the toolkit names host files in its messages and in GPUNodeState"
DIFFERENCES = {
    f"{TOOLKIT}/init/driver-validation/env/NODE_NAME": NODE_STATE,
    f"{TOOLKIT}/containers/nvidia-container-toolkit-ctr/env/NODE_NAME": NODE_STATE,
    f"{TOOLKIT}/containers/nvidia-container-toolkit-ctr/env/POD_NAME": NODE_STATE,
    f"{TOOLKIT}/containers/nvidia-container-toolkit-ctr/env/TOOLKIT_DONE_FILE": "its pod is ready when it is done",
    f"{TOOLKIT}/update/type": PACED,
    f"{TOOLKIT}/update/rollingUpdate": PACED,
    f"{TOOLKIT}/containers/nvidia-container-toolkit-ctr/env/RUNTIME_CONFIG_HOST_PATH": HOST_PATHS,
    f"{TOOLKIT}/containers/nvidia-container-toolkit-ctr/env/RUNTIME_SOCKET_HOST_PATH": HOST_PATHS,
    f"{TOOLKIT}/containers/nvidia-container-toolkit-ctr/mounts//usr/share/containers/oci/hooks.d": "no hooks",
    f"{TOOLKIT}/volumes/crio-hooks": "no hooks",
    f"{VALIDATOR}/volumes/cdi-root": "the toolkit step checks the CDI specifications",
    f"{VALIDATOR}/init/toolkit-validation/mounts//var/run/cdi": "the toolkit step checks the CDI specifications",
    f"{VALIDATOR}/init/toolkit-validation/env/OPERATOR_NAMESPACE": NODE_STATE,
    f"{VALIDATOR}/init/toolkit-validation/env/NODE_NAME": NODE_STATE,
    f"{VALIDATOR}/init/driver-validation/env/NODE_NAME": NODE_STATE,
    **{
        f"{VALIDATOR}/init/{step}-validation/mounts/{path}": NO_INJECTION
        for step in ("toolkit", "cuda", "plugin")
        for path in ("/driver-root", "/host", "/run/nvidia/driver")
    },
    f"{PLUGIN}/containers/nvidia-device-plugin/env/NODE_NAME": NODE_STATE,
    f"{PLUGIN}/containers/nvidia-device-plugin/env/SYS_ROOT": "the node's sysfs is asked for NUMA nodes",
    **{
        f"{GFD}/containers/gpu-feature-discovery/mounts/{path}": NO_INJECTION
        for path in ("/driver-root", "/host", "/run/nvidia")
    },
    f"{GFD}/volumes/driver-install-dir": NO_INJECTION,
    f"{GFD}/volumes/host-root": NO_INJECTION,
}


def context(**patch: Any) -> Context:
    return Context(spec=parse_spec(merged(DEFAULT["policy"], patch)), namespace="gpu-operator", image=OURS)


def merged(base: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    return {**(base or {}), **{key: merged((base or {}).get(key), value) for key, value in patch.items()}}


def rendered(found: Context) -> dict[str, Shape]:
    """DaemonSet name -> manifest of every enabled operand that is not refused."""
    wanted = [operand for operand in operands() if operand.enabled(found.spec) and not operand.refusal(found)]
    manifests = [manifest for operand in wanted for manifest in operand.desired(found)]
    return {m["metadata"]["name"]: m for m in manifests if m["kind"] == "DaemonSet"}


def differences(ours: Any, theirs: Any, path: str) -> dict[str, tuple[Any, Any]]:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        found: dict[str, tuple[Any, Any]] = {}
        for key in ours.keys() | theirs.keys():
            found |= differences(ours.get(key, "absent"), theirs.get(key, "absent"), f"{path}/{key}")
        return found
    return {} if ours == theirs else {path: (ours, theirs)}


@pytest.mark.parametrize("name", [TOOLKIT, VALIDATOR, PLUGIN, GFD])
def test_a_daemonset_is_nvidias_but_for_the_listed_differences(name: str) -> None:
    ours, theirs = shape(rendered(context())[name]), truth_shape(DEFAULT["daemonsets"][name])
    found = differences(ours, theirs, name)
    assert {path: pair for path, pair in found.items() if path not in DIFFERENCES} == {}
    assert list(ours["init"]) == list(theirs["init"]), "the order of init containers is the order on the node"


def test_every_listed_difference_is_one() -> None:
    found: set[str] = set()
    for name, manifest in rendered(context()).items():
        found |= differences(shape(manifest), truth_shape(DEFAULT["daemonsets"][name]), name).keys()
    assert found == DIFFERENCES.keys()


def test_the_runtime_classes_are_nvidias() -> None:
    assert runtime_classes(context()) == DEFAULT["runtimeclasses"]


def runtime_classes(found: Context) -> dict[str, str]:
    (prerequisites,) = [operand for operand in operands() if operand.state == "pre-requisites"]
    return {m["metadata"]["name"]: m["handler"] for m in prerequisites.desired(found)}


VARIANTS_WE_HAVE = [
    "mig-mixed",
    "driver-off",
    "toolkit-off",
    "cdi-off",
    "custom-toleration-priority",
    "operands-off",
    "env-args-resources",
    "dcgm-on",
    "status-exporter",
    "sandbox",
    "precompiled",
]


def test_the_variant_that_is_refused_is_the_only_one_that_is_not_compared() -> None:
    assert set(VARIANTS) - set(VARIANTS_WE_HAVE) == {"plugin-config"}


@pytest.mark.parametrize("variant", VARIANTS_WE_HAVE)
def test_another_policy_changes_what_it_changes_in_nvidias(variant: str) -> None:
    row = VARIANTS[variant]
    before, after = rendered(context()), rendered(context(**row["policy_patch"]))
    assert set(before) - set(after) == set(row["daemonsets_gone"]) & set(before)
    for name in after:
        wanted = expected(shape(before[name]), name, row)
        assert differences(shape(after[name]), wanted, name) == {}


def expected(ours: Shape, name: str, row: dict[str, Any]) -> Shape:
    """Our default DaemonSet with the variant's recorded changes made to it."""
    found = copy.deepcopy(ours)
    for path, value in row["changed"].items():
        set_path(found, path, name, value)
    for path in row["removed"]:
        drop_path(found, path, name)
    return found


def steps(path: str, name: str) -> list[str] | None:
    parts = [part.replace("~1", "/") for part in path.split("/")]
    if parts[:2] != ["daemonsets", name]:
        return None
    keys = parts[2:]
    compared = keys[0] in ("init", "containers") and len(keys) > 2 and keys[2] in ("env", "mounts")
    return keys if compared or keys[0] in ("labels", "pod_labels", "tolerations", "priorityClassName") else None


def set_path(found: Any, path: str, name: str, value: Any) -> None:
    keys = steps(path, name)
    if keys is None:
        return
    for key in keys[:-1]:
        found = found[int(key)] if isinstance(found, list) else found[key]
    found[keys[-1]] = value


def drop_path(found: Any, path: str, name: str) -> None:
    keys = steps(path, name)
    if keys and keys[0] == "init" and name == VALIDATOR:  # plugin-validation goes as a whole
        found["init"].pop(keys[1], None)
        return
    for key in (keys or [""])[:-1]:
        found = found[key]
    found.pop((keys or [""])[-1], None)


def test_a_policys_own_args_and_resources_reach_the_program() -> None:
    row = VARIANTS["env-args-resources"]
    plugin = rendered(context(**row["policy_patch"]))[PLUGIN]
    (main,) = plugin["spec"]["template"]["spec"]["containers"]
    assert main["args"] == ["--x"]
    assert main["command"] == ["/bin/sh", "/bin/entrypoint.sh"]
    assert main["resources"] == {"limits": {"cpu": "100m"}}


def test_without_cdi_only_the_policys_own_runtime_class_is_left() -> None:
    assert runtime_classes(context(cdi={"enabled": False})) == {"nvidia": "nvidia"}


def test_with_nri_there_are_no_runtime_classes_and_the_toolkit_is_refused() -> None:
    found = context(cdi={"nriPluginEnabled": True})
    assert runtime_classes(found) == {}
    assert TOOLKIT not in rendered(found)


def test_a_runtime_class_of_another_name_is_named_by_every_operand_and_by_the_toolkit() -> None:
    found = rendered(context(operator={"runtimeClass": "gpu"}))
    classes = {name: m["spec"]["template"]["spec"].get("runtimeClassName") for name, m in found.items()}
    assert classes == {TOOLKIT: None, VALIDATOR: "gpu", PLUGIN: "gpu", GFD: "gpu"}
    env = shape(found[TOOLKIT])["containers"]["nvidia-container-toolkit-ctr"]["env"]
    assert env["CONTAINERD_RUNTIME_CLASS"] == "gpu"


def test_the_toolkits_paths_on_the_node_are_mounted_where_it_looks() -> None:
    paths = {
        "CONTAINERD_CONFIG": "/var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl",
        "CONTAINERD_SOCKET": "/run/k3s/containerd/containerd.sock",
        "RUNTIME_DROP_IN_CONFIG": "/var/lib/rancher/k3s/agent/etc/containerd/conf.d/9.toml",
        "RUNTIME_CONFIG_SOURCE": "command,file=/etc/k3s.toml",
    }
    found = rendered(context(toolkit={"env": [{"name": k, "value": v} for k, v in paths.items()]}))[TOOLKIT]
    env = shape(found)["containers"]["nvidia-container-toolkit-ctr"]["env"]
    assert env["RUNTIME_CONFIG"] == env["CONTAINERD_CONFIG"] == "/runtime/config-dir/config.toml.tmpl"
    assert env["RUNTIME_SOCKET"] == "/runtime/sock-dir/containerd.sock"
    assert env["RUNTIME_DROP_IN_CONFIG_HOST_PATH"] == paths["RUNTIME_DROP_IN_CONFIG"]
    assert env["RUNTIME_CONFIG_SOURCE"] == "command,file=/host/etc/k3s.toml"
    volumes = shape(found)["volumes"]
    assert volumes["containerd-config"] == "/var/lib/rancher/k3s/agent/etc/containerd"
    assert volumes["containerd-socket"] == "/run/k3s/containerd"
    assert volumes["containerd-drop-in-config"] == "/var/lib/rancher/k3s/agent/etc/containerd/conf.d"


def test_host_paths_move_volumes() -> None:
    patch = {"rootFS": "/node", "driverInstallDir": "/opt/driver", "kubeletRootDir": "/data/kubelet"}
    volumes = shape(rendered(context(hostPaths=patch))[PLUGIN])["volumes"]
    assert volumes["host-root"] == "/node"
    assert volumes["driver-install-dir"] == "/opt/driver"
    assert volumes["device-plugin"] == "/data/kubelet/device-plugins"


def test_a_driver_elsewhere_is_told_to_the_validator_and_mounted_where_it_always_is() -> None:
    steps = shape(rendered(context(hostPaths={"driverInstallDir": "/opt/driver"}))[VALIDATOR])["init"]
    for step in steps.values():
        assert step["env"]["DRIVER_INSTALL_DIR"] == "/opt/driver"
        assert step["env"]["DRIVER_INSTALL_DIR_CTR_PATH"] == "/run/nvidia/driver"


def test_without_an_image_of_its_own_an_operand_runs_the_operators_image() -> None:
    bare = {key: {} for key in ("devicePlugin", "validator", "gfd", "toolkit", "driver", "dcgm")}
    found = rendered(Context(spec=parse_spec(bare), namespace="ns", image=OURS))
    assert {c["image"] for m in found.values() for c in containers(m)} == {OURS}


def containers(manifest: Shape) -> list[Shape]:
    pod = manifest["spec"]["template"]["spec"]
    return [*pod["initContainers"], *pod["containers"]]


def test_pull_secrets_of_operand_and_validator_are_both_given() -> None:
    found = rendered(context(devicePlugin={"imagePullSecrets": ["a"]}, validator={"imagePullSecrets": ["b", "a"]}))
    assert found[PLUGIN]["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}]


def test_every_manifest_is_owned_named_and_hashed_and_the_hash_follows_the_content() -> None:
    owner = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "name": "p", "uid": "u"}
    spec = parse_spec(DEFAULT["policy"])
    first, again = (Context(spec=spec, namespace="ns", image=OURS, owner=owner) for _ in range(2))
    for operand in operands():
        for one, two in zip(operand.desired(first), operand.desired(again), strict=True):
            assert one == two
            assert one["metadata"]["ownerReferences"] == [owner]
            assert one["metadata"].get("namespace") == (None if one["kind"] == "RuntimeClass" else "ns")
    hashes = {m["metadata"]["annotations"]["nvidia.com/last-applied-hash"] for m in rendered(context()).values()}
    changed = {
        m["metadata"]["annotations"]["nvidia.com/last-applied-hash"]
        for m in rendered(context(daemonsets={"labels": {"a": "b"}})).values()
    }
    assert not hashes & changed


def test_on_delete_is_on_delete_and_a_percentage_stays_one() -> None:
    assert strategy(updateStrategy="OnDelete") == {"type": "OnDelete"}
    assert strategy(rollingUpdate={"maxUnavailable": "20%"})["rollingUpdate"]["maxUnavailable"] == "20%"


def strategy(**patch: Any) -> Shape:
    found: Shape = rendered(context(daemonsets=patch))[PLUGIN]["spec"]["updateStrategy"]
    return found


def test_operands_are_applied_in_nvidias_order() -> None:
    assert [operand.state for operand in operands()] == [
        "pre-requisites",
        "state-container-toolkit",
        "state-operator-validation",
        "state-device-plugin",
        "gpu-feature-discovery",
    ]


def test_the_host_network_brings_its_dns_policy() -> None:
    pod = rendered(context(devicePlugin={"hostNetwork": True}))[PLUGIN]["spec"]["template"]["spec"]
    assert (pod["hostNetwork"], pod["dnsPolicy"]) == (True, "ClusterFirstWithHostNet")
