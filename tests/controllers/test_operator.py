"""The operator against a small API server: labels, operands, status, Events, removal, restarts."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lockgate.controllers.operator import Operator
from lockgate.controllers.settings import Settings, read_settings
from tests.kube.fake_server import Answer, fake_api, status
from tests.kube.small_cluster import SmallCluster

TRUTH = Path(__file__).parents[1] / "truth" / "operands"
POLICIES = "/apis/nvidia.com/v1/clusterpolicies"
DAEMONSETS = "/apis/apps/v1/namespaces/gpu-operator/daemonsets"
CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
GPU = {"feature.node.kubernetes.io/pci-10de.present": "true"}
OURS = {"driver": {"enabled": False}, "dcgm": {"enabled": False}, "dcgmExporter": {"enabled": False}}
OURS |= {"migManager": {"enabled": False}}
NAMES = {
    "nvidia-container-toolkit-daemonset",
    "nvidia-operator-validator",
    "nvidia-device-plugin-daemonset",
    "gpu-feature-discovery",
}

Body = Callable[[SmallCluster], Awaitable[None]]


def settings(*flags: str) -> Settings:
    ports = ("--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0")
    return read_settings([*ports, *flags], {"OPERATOR_NAMESPACE": "gpu-operator", "LOCKGATE_IMAGE": "lockgate:test"})


def run(body: Body, *flags: str, cluster: SmallCluster | None = None) -> None:
    """Run the operator on a cluster with one GPU node, and the test beside it."""

    async def main() -> None:
        found = cluster or SmallCluster()
        if not found.objects:
            found.put("/api/v1/nodes/gpu-a", {"metadata": {"labels": dict(GPU)}})
            found.put("/api/v1/nodes/cpu", {"metadata": {"labels": {"kubernetes.io/os": "linux"}}})
        async with fake_api(found.handle) as (_, api, _waits):
            operator = asyncio.create_task(Operator(settings(*flags), api).run())
            try:
                await body(found)
                if operator.done():
                    operator.result()
            finally:
                operator.cancel()
                await asyncio.gather(operator, return_exceptions=True)

    asyncio.run(asyncio.wait_for(main(), 30))


def policy(cluster: SmallCluster, name: str = "cluster-policy", spec: Any = OURS, **metadata: Any) -> None:
    body = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": metadata, "spec": spec}
    cluster.put(f"{POLICIES}/{name}", body)


def state(cluster: SmallCluster, name: str = "cluster-policy") -> str:
    found: str = cluster.objects[f"{POLICIES}/{name}"].get("status", {}).get("state", "")
    return found


def condition(cluster: SmallCluster, kind: str, name: str = "cluster-policy") -> dict[str, Any]:
    conditions = cluster.objects[f"{POLICIES}/{name}"].get("status", {}).get("conditions", [])
    return next((c for c in conditions if c["type"] == kind), {})


def names(cluster: SmallCluster, folder: str) -> set[str]:
    return {path.rsplit("/", 1)[1] for path in cluster.objects if path.startswith(f"{folder}/")}


def labels(cluster: SmallCluster, node: str = "gpu-a") -> dict[str, str]:
    found: dict[str, str] = cluster.objects[f"/api/v1/nodes/{node}"]["metadata"].get("labels", {})
    return found


def events(cluster: SmallCluster) -> list[dict[str, Any]]:
    return [o for path, o in cluster.objects.items() if "/events/" in path]


async def until(holds: Callable[[], object], seconds: float = 8) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.02)


def run_pods(cluster: SmallCluster, nodes: int = 1) -> None:
    """Play the DaemonSet controller and the kubelets: every DaemonSet runs on `nodes` nodes."""
    for name in names(cluster, DAEMONSETS):
        found = dict(cluster.objects[f"{DAEMONSETS}/{name}"])
        counts = ("desiredNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable")
        found["status"] = {**dict.fromkeys(counts, nodes), "observedGeneration": found["metadata"]["generation"]}
        cluster.put(f"{DAEMONSETS}/{name}", found)


def test_a_policy_becomes_labels_classes_and_daemonsets_and_is_ready_when_they_run() -> None:
    async def body(cluster: SmallCluster) -> None:
        policy(cluster)
        await until(lambda: names(cluster, DAEMONSETS) == NAMES)
        assert names(cluster, CLASSES) == {"nvidia", "nvidia-cdi", "nvidia-legacy"}
        await until(lambda: labels(cluster).get("nvidia.com/gpu.deploy.device-plugin") == "true")
        assert "nvidia.com/gpu.present" not in labels(cluster, "cpu")
        await until(lambda: state(cluster) == "notReady")
        run_pods(cluster)
        await until(lambda: state(cluster) == "ready")
        assert condition(cluster, "DevicePluginReady")["message"] == "runs on 1 of 1 nodes"
        assert condition(cluster, "Ready")["status"] == "True"
        await until(lambda: [e["reason"] for e in events(cluster) if e["type"] == "Normal"] == ["Reconciled"])

    run(body)


def test_nothing_is_written_again_once_all_is_as_it_should_be() -> None:
    async def body(cluster: SmallCluster) -> None:
        policy(cluster)
        await until(lambda: names(cluster, DAEMONSETS) == NAMES)
        run_pods(cluster)
        await until(lambda: state(cluster) == "ready")
        await asyncio.sleep(0.5)
        cluster.calls.clear()
        cluster.put("/api/v1/nodes/gpu-a", {**cluster.objects["/api/v1/nodes/gpu-a"], "status": {"phase": "x"}})
        await asyncio.sleep(0.8)
        assert [call for call in cluster.calls if call[0] != "GET"] == []

    run(body)


def publish(cluster: SmallCluster, node: str, **runtime: str) -> None:
    """What the toolkit of a node says of its runtime."""
    cluster.put(f"/apis/lockgate.dev/v1alpha1/gpunodestates/{node}", {"status": {"runtime": runtime}})


def told(cluster: SmallCluster, reason: str) -> list[str]:
    return [event["message"] for event in events(cluster) if event["reason"] == reason]


def test_drift_is_a_condition_an_event_and_a_metric_outside_of_a_rollout() -> None:
    async def body(cluster: SmallCluster) -> None:
        policy(cluster)
        await until(lambda: names(cluster, DAEMONSETS) == NAMES)
        run_pods(cluster)
        await until(lambda: state(cluster) == "ready")
        assert condition(cluster, "RuntimeInStep") == {}, "nobody has said anything"
        publish(cluster, "gpu-a", phase="Configured")
        publish(cluster, "gpu-b", phase="Configured")
        await until(lambda: condition(cluster, "RuntimeInStep").get("status") == "True")
        assert "2 of 2 nodes" in condition(cluster, "RuntimeInStep")["message"]
        assert told(cluster, "InStep") == [], "all is as it was"
        publish(cluster, "gpu-b", phase="Drifted", drift="HandlersLostAtRestart", message="zz.toml:2 takes it away")
        await until(lambda: condition(cluster, "RuntimeInStep")["reason"] == "Drifted")
        said = "1 of 2 nodes is not as the toolkit has left it: gpu-b: HandlersLostAtRestart: zz.toml:2 takes it away"
        assert condition(cluster, "RuntimeInStep")["message"] == said
        assert state(cluster) == "ready", "pods that need the handler still start"
        await until(lambda: told(cluster, "Drifted") == [said])
        publish(cluster, "gpu-b", phase="Drifted", drift="HandlerNotLoaded", message="it was restarted")
        await until(lambda: state(cluster) == "notReady")
        assert condition(cluster, "RuntimeInStep")["reason"] == "HandlersLost"
        assert "it was restarted" in condition(cluster, "Ready")["message"]
        publish(cluster, "gpu-b", phase="Configured")
        await until(lambda: state(cluster) == "ready")
        await until(lambda: told(cluster, "InStep") == ["2 of 2 nodes run with what the toolkit has written"])

    run(body)


def test_what_becomes_of_devices_and_driver_is_no_news_about_runtimes() -> None:
    async def body(cluster: SmallCluster) -> None:
        policy(cluster)
        await until(lambda: names(cluster, DAEMONSETS) == NAMES)
        run_pods(cluster)
        publish(cluster, "gpu-a", phase="Configured")
        await until(lambda: condition(cluster, "RuntimeInStep").get("status") == "True" and state(cluster) == "ready")
        await until(lambda: bool(told(cluster, "Reconciled")))  # the last word about becoming ready
        cluster.calls.clear()
        path = "/apis/lockgate.dev/v1alpha1/gpunodestates/gpu-a"
        cluster.put(path, {"status": {"runtime": {"phase": "Configured"}, "devices": {"registered": True}}})
        await asyncio.sleep(0.8)
        assert [call for call in cluster.calls if call[0] != "GET"] == []

    run(body)


def test_without_the_definition_of_gpunodestates_the_operator_works_all_the_same() -> None:
    async def body(cluster: SmallCluster) -> None:
        policy(cluster)
        await until(lambda: names(cluster, DAEMONSETS) == NAMES)
        run_pods(cluster)
        await until(lambda: state(cluster) == "ready")
        assert condition(cluster, "RuntimeInStep") == {}

    cluster = SmallCluster()
    cluster.refuse["GET /apis/lockgate.dev/v1alpha1/gpunodestates"] = status(404, "NotFound", "not installed")
    run(body, cluster=cluster)


def test_nvidias_default_policy_says_which_fields_to_switch_off() -> None:
    async def body(cluster: SmallCluster) -> None:
        policy(cluster, spec=json.loads((TRUTH / "default.json").read_text())["policy"])
        await until(lambda: condition(cluster, "DriverReady"))
        assert condition(cluster, "DriverReady")["reason"] == "Unsupported"
        assert "spec.driver.enabled=false" in condition(cluster, "DriverReady")["message"]
        assert state(cluster) == "notReady"
        await until(lambda: names(cluster, DAEMONSETS) == NAMES)

    run(body)


def test_a_second_policy_is_refused_visibly_and_takes_over_when_the_first_goes() -> None:
    async def body(cluster: SmallCluster) -> None:
        policy(cluster)
        await until(lambda: state(cluster) == "notReady")
        policy(cluster, "second", {**OURS, "gfd": {"enabled": False}}, creationTimestamp="2026-02-01T00:00:00Z")
        await until(lambda: state(cluster, "second") == "ignored")
        assert "cluster-policy" in condition(cluster, "Error", "second")["message"]
        await until(lambda: any(e["reason"] == "Ignored" for e in events(cluster)))
        assert "gpu-feature-discovery" in names(cluster, DAEMONSETS)
        delete(cluster, f"{POLICIES}/cluster-policy")
        await until(lambda: f"{POLICIES}/cluster-policy" not in cluster.objects)
        await until(lambda: state(cluster, "second") == "notReady")
        await until(lambda: names(cluster, DAEMONSETS) == NAMES - {"gpu-feature-discovery"})

    run(body)


def delete(cluster: SmallCluster, path: str) -> None:
    """What `kubectl delete` does."""
    found = dict(cluster.objects[path])
    found["metadata"] = {**found["metadata"], "deletionTimestamp": "2026-03-01T00:00:00Z"}
    cluster.put(path, found)


def test_disabling_an_operand_removes_it() -> None:
    async def body(cluster: SmallCluster) -> None:
        policy(cluster)
        await until(lambda: names(cluster, DAEMONSETS) == NAMES)
        await until(lambda: condition(cluster, "FeatureDiscoveryReady"))
        changed = dict(cluster.objects[f"{POLICIES}/cluster-policy"])
        changed["spec"] = {**OURS, "gfd": {"enabled": False}}
        cluster.put(f"{POLICIES}/cluster-policy", changed)
        await until(lambda: "gpu-feature-discovery" not in names(cluster, DAEMONSETS))
        await until(lambda: not condition(cluster, "FeatureDiscoveryReady"))

    run(body)


def test_a_daemonset_that_somebody_deletes_or_edits_comes_back() -> None:
    async def body(cluster: SmallCluster) -> None:
        policy(cluster)
        await until(lambda: names(cluster, DAEMONSETS) == NAMES)
        plugin = f"{DAEMONSETS}/nvidia-device-plugin-daemonset"
        cluster.drop(plugin)
        await until(lambda: plugin in cluster.objects)
        edited = json.loads(json.dumps(cluster.objects[plugin]))
        edited["spec"]["template"]["spec"]["nodeSelector"] = {"nowhere": "true"}
        cluster.put(plugin, edited)
        selector = lambda: cluster.objects[plugin]["spec"]["template"]["spec"]["nodeSelector"]  # noqa: E731
        await until(lambda: selector().get("nvidia.com/gpu.deploy.device-plugin") == "true")

    run(body)


def test_a_policy_that_is_deleted_takes_operands_first_and_then_its_labels() -> None:
    async def body(cluster: SmallCluster) -> None:
        policy(cluster)
        await until(lambda: labels(cluster).get("nvidia.com/gpu.present") == "true")
        await until(lambda: "lockgate.dev/node-labels" in finalizers(cluster))
        own(cluster, "/api/v1/nodes/gpu-a")
        delete(cluster, f"{POLICIES}/cluster-policy")
        await until(lambda: f"{POLICIES}/cluster-policy" not in cluster.objects)
        assert names(cluster, DAEMONSETS) == set()
        assert {label for label in labels(cluster) if label.startswith("nvidia.com/")} == set()
        assert labels(cluster) == GPU

    run(body)


def finalizers(cluster: SmallCluster) -> list[str]:
    found: list[str] = cluster.objects[f"{POLICIES}/cluster-policy"]["metadata"].get("finalizers", [])
    return found


def own(cluster: SmallCluster, path: str) -> None:
    """The small server does not keep field owners: say that the operator wrote every label of NVIDIA's."""
    found = json.loads(json.dumps(cluster.objects[path]))
    written = {f"f:{label}": {} for label in found["metadata"]["labels"] if label.startswith("nvidia.com/")}
    fields = {"manager": "lockgate-operator", "fieldsV1": {"f:metadata": {"f:labels": written}}}
    found["metadata"]["managedFields"] = [fields]
    cluster.put(path, found)


def test_a_field_that_the_api_server_dropped_is_told_in_an_event() -> None:
    async def body(cluster: SmallCluster) -> None:
        written = {"spec": {"driver": {"upgradePolicy": {"gpuPodDeletion": {}}}}}
        annotations = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(written)}
        policy(cluster, annotations=annotations)
        await until(lambda: any(e["reason"] == "UnknownFields" for e in events(cluster)))
        (event,) = [e for e in events(cluster) if e["reason"] == "UnknownFields"]
        assert "use spec.driver.upgradePolicy.podDeletion" in event["message"]

    run(body)


def test_an_operand_that_the_server_refuses_is_said_and_the_others_go_on() -> None:
    async def body(cluster: SmallCluster) -> None:
        path = f"PATCH {DAEMONSETS}/nvidia-device-plugin-daemonset"
        cluster.refuse[path] = status(403, "Forbidden", "quota exceeded")
        policy(cluster)
        await until(lambda: condition(cluster, "DevicePluginReady").get("reason") == "ApplyFailed")
        assert "quota exceeded" in condition(cluster, "DevicePluginReady")["message"]
        assert names(cluster, DAEMONSETS) == NAMES - {"nvidia-device-plugin-daemonset"}

    run(body)


def test_a_label_that_changes_on_a_node_is_put_right() -> None:
    async def body(cluster: SmallCluster) -> None:
        policy(cluster)
        await until(lambda: labels(cluster).get("nvidia.com/gpu.present") == "true")
        node = json.loads(json.dumps(cluster.objects["/api/v1/nodes/gpu-a"]))
        node["metadata"]["labels"] = {"nvidia.com/gpu.present": "true"}  # the card was taken out
        cluster.put("/api/v1/nodes/gpu-a", node)
        await until(lambda: labels(cluster).get("nvidia.com/gpu.present") == "false")

    run(body)


def test_only_the_leader_works() -> None:
    cluster = SmallCluster()

    async def body(found: SmallCluster) -> None:
        lease = "/apis/coordination.k8s.io/v1/namespaces/gpu-operator/leases/lockgate-operator"
        await until(lambda: lease in found.objects)
        policy(found)
        await until(lambda: names(found, DAEMONSETS) == NAMES)

    run(body, "--leader-elect", cluster=cluster)


def test_a_candidate_that_does_not_lead_changes_nothing() -> None:
    async def body(cluster: SmallCluster) -> None:
        policy(cluster)
        await asyncio.sleep(1)
        assert names(cluster, DAEMONSETS) == set()
        assert state(cluster) == ""

    run(body, "--leader-elect", cluster=held_by_another())


def held_by_another() -> SmallCluster:
    class Held(SmallCluster):
        def handle(self, request: Any) -> Any:
            if request.path.endswith("/leases/lockgate-operator"):
                spec = {"holderIdentity": "other", "leaseDurationSeconds": 15, "renewTime": str(len(self.calls))}
                self.calls.append((request.method, request.path))
                return status(409, "Conflict") if request.method != "GET" else _answer(spec)
            return super().handle(request)

    return Held()


def _answer(spec: dict[str, Any]) -> Any:
    return Answer({"metadata": {"name": "lockgate-operator", "resourceVersion": "1"}, "spec": spec})


@contextmanager
def exits(code: int) -> Iterator[None]:
    with pytest.raises(SystemExit) as caught:
        yield
    assert caught.value.code == code


def test_without_its_namespace_the_operator_does_not_start(capsys: pytest.CaptureFixture[str]) -> None:
    with exits(2):
        read_settings([], {})
    assert "OPERATOR_NAMESPACE is not set" in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--metrics-bind-address=here", "--leader-lease-renew-deadline=soon"])
def test_a_wrong_flag_is_one_clear_line(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    with exits(2):
        read_settings([flag], {"OPERATOR_NAMESPACE": "ns"})
    assert flag.partition("=")[2] in capsys.readouterr().err.splitlines()[-1]


def test_nvidias_flags_are_read() -> None:
    found = read_settings(
        ["--leader-elect", "--leader-lease-renew-deadline=60s", "--metrics-bind-address=[::]:9999"],
        {"OPERATOR_NAMESPACE": "ns"},
    )
    assert (found.metrics, found.timing.lease, found.timing.renew_deadline) == (("::", 9999), 65.0, 60.0)
