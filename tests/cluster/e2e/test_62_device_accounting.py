"""Our model of the kubelet's device accounting against a real kubelet, with our device plugin as a bare process.

One history, step by step: after each step node.status and the answer to a pod are what `lockgate.accounting` says.
"""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.accounting.admission import Admitted, admit
from lockgate.accounting.ledger import Happening, KubeletStarted, Listed, StreamEnded, replay, reported
from tests.cluster import Cluster, Node
from tests.cluster.images import TEST

pytestmark = pytest.mark.e2e

GPU = "nvidia.com/gpu"
SOURCE = Path(__file__).parents[3] / "src"
PLUGIN = f"""
exec env PYTHONPATH={SOURCE} DRIVER_ROOT_CTR_PATH=/run/nvidia/driver NVIDIA_DRIVER_ROOT=/run/nvidia/driver \
  NVIDIA_DEV_ROOT=/ DEV_ROOT_CTR_PATH=/ DEVICE_LIST_STRATEGY=cdi-annotations,cdi-cri PASS_DEVICE_SPECS=true \
  setsid {sys.executable} -m lockgate.agents.device_plugin >>/run/plugin.log 2>&1 &
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  nodeName: gpu-a
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  containers:
    - name: main
      image: {image}
      imagePullPolicy: IfNotPresent
      command: [sh, -c, "nvidia-smi -L; sleep 600"]
      resources: {{limits: {{nvidia.com/gpu: {count}}}}}
"""


class Trial:
    """A node, its history so far, and the ids that pods hold."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.node = cluster.nodes["gpu-a"]
        self.uuids = [gpu.uuid for gpu in self.node.gpus.gpus()]
        self.history: list[tuple[float, Happening]] = []
        self.held: frozenset[str] = frozenset()
        self.pushed = 0  # lists of devices that the kubelet had from the plugin before the last step

    def marks(self) -> None:
        """What follows makes the plugin register again."""
        self.pushed = self.node.device_lists()

    def happens(self, happening: Happening, timeout: float = 180) -> None:
        """The step was done: node.status comes to what the model says, though it may take the kubelet a while."""
        self.history.append((time.monotonic(), happening))
        row = reported(replay(self.history), time.monotonic())[GPU]
        wanted = (str(row.capacity), str(row.allocatable))
        self.cluster.wait_for(
            lambda: self._status() == wanted, f"capacity and allocatable {wanted}", timeout, every=0.3
        )

    def _status(self) -> tuple[str, str]:
        status = json.loads(self.cluster.kubectl("get", "node", "gpu-a", "-o", "json"))["status"]
        return status["capacity"].get(GPU, ""), status["allocatable"].get(GPU, "")

    def pod_fares_as_the_model_says(self, name: str, count: int) -> None:
        """A pod that is pinned to the node, so that the kubelet alone decides."""
        expected = admit(replay(self.history), GPU, count, self.held, time.monotonic())
        self.cluster.apply(POD.format(name=name, image=TEST, count=count))
        self.cluster.wait_for(lambda: self._pod(name).get("phase") in ("Running", "Failed"), f"pod {name}", 180)
        status = self._pod(name)
        if isinstance(expected, Admitted):
            assert status["phase"] == "Running"
            lists = f"pod {name} lists {expected.count} GPUs"
            self.cluster.wait_for(lambda: len(self._listed(name)) == expected.count, lists, 60)
        else:
            assert (status["phase"], status["reason"], status["message"]) == (
                "Failed",
                expected.reason,
                expected.message,
            )

    def _pod(self, name: str) -> dict[str, str]:
        return dict(json.loads(self.cluster.kubectl("get", "pod", name, "-o", "json"))["status"])

    def _listed(self, name: str) -> list[str]:
        log = self.cluster.kubectl("logs", name, check=False)
        return [line for line in log.splitlines() if line.startswith("GPU ")]

    def start_plugin(self) -> None:
        self.node.exec(["sh", "-c", PLUGIN])

    def kill_plugin(self) -> None:
        self.node.exec(["pkill", "-9", "-f", "lockgate.agents.device_plugin"])

    def wait_for_registrations(self, count: int) -> None:
        """Until the plugin has registered that often: what lies between passes too fast to be seen in node.status.

        The kubelet has its devices then as well: one that dies before is none that the kubelet has known.
        """
        log = self.node.files / "run/plugin.log"
        registered = "registered with the kubelet"
        self.cluster.wait_for(lambda: log.read_text().count(registered) >= count, f"registration {count}", 60)
        self.cluster.wait_for(
            lambda: self.node.device_lists() > self.pushed, f"the devices of registration {count}", 60
        )

    def listed(self, *healthy: bool) -> Listed:
        return Listed(GPU, dict(zip(self.uuids, healthy, strict=True)))


@pytest.fixture(scope="module")
def trial() -> Iterator[Trial]:
    with Cluster([Node("gpu-a", containerd="2.4", gpus="2xA100-40GB")]) as cluster:
        yield Trial(cluster)


def test_node_status_and_admission_follow_the_model_through_a_history(trial: Trial) -> None:
    node = trial.node
    trial.pod_fares_as_the_model_says("never-known", 1)

    trial.start_plugin()
    trial.happens(trial.listed(True, True))
    trial.pod_fares_as_the_model_says("gets-one", 1)
    trial.held = frozenset(trial.uuids[:1])  # one is held; which one does not matter to the numbers
    trial.pod_fares_as_the_model_says("one-too-many", 2)

    node.gpus.lose(1)
    trial.happens(trial.listed(True, False))
    node.gpus.restore(1)
    trial.happens(trial.listed(True, True))

    trial.marks()
    node.exec(["rm", "/var/lib/kubelet/device-plugins/nvidia-gpu.sock"])
    trial.wait_for_registrations(2)
    trial.happens(trial.listed(True, True))

    trial.marks()
    node.supervisor.restart("kubelet")
    trial.wait_for_registrations(3)
    trial.happens(trial.listed(True, True))

    trial.kill_plugin()
    trial.happens(StreamEnded(GPU))
    trial.pod_fares_as_the_model_says("plugin-gone", 1)

    node.supervisor.restart("kubelet")
    trial.happens(KubeletStarted())
    trial.pod_fares_as_the_model_says("plugin-gone-kubelet-new", 1)

    trial.start_plugin()
    trial.happens(trial.listed(True, True))
    trial.pod_fares_as_the_model_says("gets-the-other", 1)
