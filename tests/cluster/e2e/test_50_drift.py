"""Others change containerd's files while our toolkit runs: it says so, with the file that won, and when it is over."""

import datetime as dt
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cluster import Cluster
from tests.cluster.asking import ask, why_live_and_saved
from tests.cluster.e2e.conftest import get, handlers, wait_event, wait_phase, wait_published
from tests.cluster.e2e.test_20_causes import STOCK_PAUSE
from tests.cluster.images import PAUSE
from tests.cluster.install import NAMESPACE, policy
from tests.cluster.manifests import pod

pytestmark = pytest.mark.e2e

TRAP = 'version = 2\n[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n'


def runtime(cluster: Cluster, node: str) -> dict[str, object]:
    """What the toolkit publishes of a node's runtime."""
    return dict(get(cluster, "gpunodestates.lockgate.dev", node)["status"].get("runtime", {}))


def wait_state(cluster: Cluster, node: str, holds: Callable[[str, str], bool], what: str) -> str:
    """The published message, once phase and message are such."""
    seen: list[tuple[str, str]] = []

    def look() -> bool:
        state = runtime(cluster, node)
        seen.append((str(state.get("phase", "")), str(state.get("message", ""))))
        return holds(*seen[-1])

    cluster.wait_for(look, what, timeout=180, every=0.5)
    return seen[-1][1]


def running_for(cluster: Cluster, node: str) -> float:
    """Seconds since the start of containerd, as the toolkit publishes it."""
    started = dt.datetime.fromisoformat(str(runtime(cluster, node)["started"]))
    return (dt.datetime.now(dt.UTC) - started).total_seconds()


def is_newer(cluster: Cluster, file: Path) -> bool:
    """Whether lint calls a file newer than containerd; it is written anew until what is published says so too."""
    found = "containerd/newer-than-process" in lint_live(cluster).stdout
    if not found:
        file.touch()
    return found


def in_step(cluster: Cluster) -> dict[str, str]:
    """The operator's word on the nodes' runtimes."""
    conditions: list[dict[str, str]] = policy(cluster).get("conditions", [])  # type: ignore[assignment]
    return next((found for found in conditions if found["type"] == "RuntimeInStep"), {})


def lint_live(cluster: Cluster, *arguments: str) -> subprocess.CompletedProcess[str]:
    return ask("lint", "--node", "gpu-b", "--kubeconfig", cluster.kubeconfig, *arguments)


@contextmanager
def dropped_in(cluster: Cluster, name: str, text: str) -> Iterator[Path]:
    """A file in gpu-b's conf.d; in the end it is gone and containerd runs without it."""
    node = cluster.nodes["gpu-b"]
    # A drop-in that takes the table takes `sandbox_image` too; a node with a registry would pull this one and go on.
    node.exec(["ctr", "-n", "k8s.io", "image", "tag", "--force", PAUSE, STOCK_PAUSE])
    file = node.files / "etc/containerd/conf.d" / name
    file.write_text(text)
    try:
        yield file
    finally:
        file.unlink()
        node.supervisor.restart("containerd")
        node.wait_for_containerd()


def test_what_the_agents_publish_is_enough_to_judge_a_node(cluster: Cluster) -> None:
    wait_state(cluster, "gpu-b", lambda *state: state == ("Configured", ""), "phase Configured")
    state = get(cluster, "gpunodestates.lockgate.dev", "gpu-b")["status"]
    assert state["runtime"]["started"] and all(file["modified"] for file in state["runtime"]["files"])
    kind = state["devices"]["cdiKind"]
    texts = {spec["kind"]: json.loads(spec["text"]) for spec in state["cdi"]["specs"] if spec["path"].endswith(".json")}
    assert {device["name"] for device in texts[kind]["devices"]} >= {d["uuid"] for d in state["devices"]["devices"]}
    silent = lint_live(cluster)
    assert (silent.returncode, silent.stderr) == (0, ""), silent.stdout
    assert "nothing to say about" in silent.stdout


def test_lint_finds_the_trap_on_the_node_and_its_fix_gives_the_handler_back(cluster: Cluster) -> None:
    node = cluster.nodes["gpu-b"]
    with dropped_in(cluster, "zz-registry.toml", TRAP) as trap:
        wait_state(cluster, "gpu-b", lambda phase, _: phase == "Drifted", "phase Drifted")
        live = lint_live(cluster, "-o", "json")
        assert live.returncode == 3, live.stderr
        found = {finding["id"]: finding for finding in json.loads(live.stdout)["findings"]}
        lines = [(line["file"], line["line"]) for line in found["containerd/dropin-overridden"]["lines"]]
        assert ("gpu-b:/etc/containerd/conf.d/zz-registry.toml", 2) in lines
        assert "+++ gpu-b:/etc/containerd/conf.d/zz-registry.toml" in lint_live(cluster, "--diff").stdout
        fixed = ask("lint", node.files / "etc/containerd", "--release", "1.7.24", "--fix")
        assert fixed.returncode in (0, 4), fixed.stdout
        assert "wrote" in fixed.stderr and "runtimes.nvidia" in trap.read_text()
        node.supervisor.restart("containerd")
        node.wait_for_containerd()
        cluster.apply(pod("healed", gpus=1, on="gpu-b", runtimeClassName="nvidia", command=("nvidia-smi", "-L")))
        wait_phase(cluster, "healed", "Succeeded", timeout=240)
    wait_state(cluster, "gpu-b", lambda *state: state == ("Configured", ""), "phase Configured again")


REGISTRY = '\n[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n'


def renew_toolkit(cluster: Cluster) -> None:
    """Another toolkit on gpu-b: the old one takes its handlers away, the new one looks at the files as they are."""
    before = runtime(cluster, "gpu-b").get("pod")
    where = ("-n", NAMESPACE, "-l", "app=nvidia-container-toolkit-daemonset", "--field-selector", "spec.nodeName=gpu-b")
    cluster.kubectl("delete", "pod", *where)
    cluster.wait_for(lambda: runtime(cluster, "gpu-b").get("pod") not in (None, before), "a new toolkit", timeout=240)
    wait_state(cluster, "gpu-b", lambda *state: state == ("Configured", ""), "phase Configured by it")


def test_our_toolkit_does_not_take_a_registry_away(cluster: Cluster) -> None:
    """The trap the other way round: the toolkit's drop-in is the later file, and repeats what the earlier one says."""
    config = cluster.nodes["gpu-b"].files / "etc/containerd/config.toml"
    with config.open("a") as file:
        file.write(REGISTRY)
    try:
        wait_state(cluster, "gpu-b", lambda phase, _: phase == "Drifted", "phase Drifted")
        assert runtime(cluster, "gpu-b")["drift"] == "DropInOutdated"
        renew_toolkit(cluster)
        asked = ask("effective", "--node", "gpu-b", "--kubeconfig", cluster.kubeconfig, "-o", "json")
        section = json.loads(asked.stdout)["config"]["plugins"]["io.containerd.grpc.v1.cri"]
        assert section["registry"]["config_path"] == "/etc/containerd/certs.d"
        assert {"runc", "nvidia"} <= section["containerd"]["runtimes"].keys()
        assert lint_live(cluster).returncode == 0
        cluster.apply(pod("beside", gpus=1, on="gpu-b", runtimeClassName="nvidia", command=("nvidia-smi", "-L")))
        wait_phase(cluster, "beside", "Succeeded")
    finally:
        config.write_text(config.read_text().replace(REGISTRY, ""))
        renew_toolkit(cluster)


def test_the_drop_in_trap_is_published_before_and_after_it_shuts_and_when_it_is_gone(cluster: Cluster) -> None:
    node = cluster.nodes["gpu-b"]
    # The trap takes `sandbox_image` too; a node with a registry would pull this one and go on to the handler.
    node.exec(["ctr", "-n", "k8s.io", "image", "tag", "--force", PAUSE, STOCK_PAUSE])
    trap = node.files / "etc/containerd/conf.d/zz-registry.toml"
    # The start of containerd is known to the second only, and the file must be seen to be newer.
    cluster.wait_for(lambda: running_for(cluster, "gpu-b") > 10, "containerd runs for ten seconds")
    trap.write_text(TRAP)
    try:
        said = wait_state(cluster, "gpu-b", lambda phase, _: phase == "Drifted", "phase Drifted")
        assert "the next restart of containerd will lose handlers" in said
        assert "/etc/containerd/conf.d/99-nvidia.toml" in said
        assert "/etc/containerd/conf.d/zz-registry.toml:2" in said, "the line that wins"
        assert runtime(cluster, "gpu-b")["drift"] == "HandlersLostAtRestart"
        cluster.wait_for(lambda: in_step(cluster).get("reason") == "Drifted", "the operator says it", timeout=180)
        assert "gpu-b: HandlersLostAtRestart" in in_step(cluster)["message"]
        cluster.wait_for(lambda: is_newer(cluster, trap), "lint sees a file that containerd has not loaded", every=3)
        node.supervisor.restart("containerd")
        node.wait_for_containerd()
        lost = 'containerd has not loaded handler "nvidia"'
        said = wait_state(cluster, "gpu-b", lambda phase, text: phase == "Drifted" and lost in text, lost)
        assert "zz-registry.toml:2" in said
        wait_published(cluster, "gpu-b", lambda state: handlers(state) == {"runc"}, "no handler but runc")
        cluster.wait_for(lambda: in_step(cluster).get("reason") == "HandlersLost", "the operator says it", timeout=180)
        cluster.wait_for(lambda: policy(cluster)["state"] == "notReady", "state: notReady")
        cluster.apply(pod("drifted", gpus=1, on="gpu-b", runtimeClassName="nvidia"))
        wait_event(cluster, "drifted", 'no runtime for "nvidia" is configured')
        for answer in why_live_and_saved(cluster, "pod/drifted", "drifted"):
            assert answer.ids[:1] == ["containerd/dropin-overridden"], answer.text
            assert "zz-registry.toml" in answer.evidence("containerd/dropin-overridden"), answer.text
    finally:
        trap.unlink()
        node.supervisor.restart("containerd")
        node.wait_for_containerd()
    wait_state(cluster, "gpu-b", lambda *state: state == ("Configured", ""), "phase Configured again")
    wait_phase(cluster, "drifted", "Running")
    cluster.wait_for(lambda: in_step(cluster).get("status") == "True", "the operator says that it is over", timeout=180)
