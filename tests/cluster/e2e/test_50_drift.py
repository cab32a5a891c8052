"""Others change containerd's files while our toolkit runs: it says so, with the file that won, and when it is over."""

from collections.abc import Callable

import pytest

from tests.cluster import Cluster
from tests.cluster.asking import why_live_and_saved
from tests.cluster.e2e.conftest import get, wait_event, wait_phase
from tests.cluster.e2e.test_20_causes import STOCK_PAUSE
from tests.cluster.images import PAUSE
from tests.cluster.manifests import pod

pytestmark = pytest.mark.e2e

TRAP = 'version = 2\n[plugins."io.containerd.grpc.v1.cri".registry]\n  config_path = "/etc/containerd/certs.d"\n'


def runtime(cluster: Cluster, node: str) -> dict[str, object]:
    """What the toolkit publishes of a node's runtime."""
    return dict(get(cluster, "gpunodestates.lockgate.dev", node)["status"]["runtime"])


def wait_state(cluster: Cluster, node: str, holds: Callable[[str, str], bool], what: str) -> str:
    """The published message, once phase and message are such."""
    seen: list[tuple[str, str]] = []

    def look() -> bool:
        state = runtime(cluster, node)
        seen.append((str(state["phase"]), str(state.get("message", ""))))
        return holds(*seen[-1])

    cluster.wait_for(look, what, timeout=40, every=0.5)
    return seen[-1][1]


def test_the_drop_in_trap_is_published_before_and_after_it_shuts_and_when_it_is_gone(cluster: Cluster) -> None:
    node = cluster.nodes["gpu-b"]
    # The trap takes `sandbox_image` too; a node with a registry would pull this one and go on to the handler.
    node.exec(["ctr", "-n", "k8s.io", "image", "tag", "--force", PAUSE, STOCK_PAUSE])
    trap = node.files / "etc/containerd/conf.d/zz-registry.toml"
    trap.write_text(TRAP)
    try:
        said = wait_state(cluster, "gpu-b", lambda phase, _: phase == "Drifted", "phase Drifted")
        assert "the next restart of containerd will lose handlers" in said
        assert "/etc/containerd/conf.d/99-nvidia.toml" in said
        assert "/etc/containerd/conf.d/zz-registry.toml:2" in said, "the line that wins"
        node.supervisor.restart("containerd")
        node.wait_for_containerd()
        lost = 'containerd has not loaded handler "nvidia"'
        said = wait_state(cluster, "gpu-b", lambda phase, text: phase == "Drifted" and lost in text, lost)
        assert "zz-registry.toml:2" in said
        assert [handler["name"] for handler in runtime(cluster, "gpu-b")["handlers"]] == ["runc"]  # type: ignore[attr-defined]
        cluster.apply(pod("drifted", gpus=1, on="gpu-b", runtimeClassName="nvidia"))
        wait_event(cluster, 'no runtime for "nvidia" is configured')
        for answer in why_live_and_saved(cluster, "pod/drifted", "drifted"):
            assert answer.ids[:1] == ["containerd/dropin-overridden"], answer.text
            assert "zz-registry.toml" in answer.evidence("containerd/dropin-overridden"), answer.text
    finally:
        trap.unlink()
        node.supervisor.restart("containerd")
        node.wait_for_containerd()
    wait_state(cluster, "gpu-b", lambda *state: state == ("Configured", ""), "phase Configured again")
    wait_phase(cluster, "drifted", "Running", timeout=90)
