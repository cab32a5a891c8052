"""The toolkit, killed at each of its points on real nodes, never loses one.

After each kill containerd has the old or the new configuration loaded, the GPU pod and the other pod run as before, and
the next start finishes the job. Some points here, others each time; all of them, 200 and more on each release, with
`LOCKGATE_KILL_POINTS=all` in the environment (or another number, of each kind of run).
"""

import json
import os
import random
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Final

import pytest

from lockgate.agents.toolkit.change import CONFIGURED, REMOVED, ROLLED_BACK
from lockgate.containerd import HANDLERS
from tests.cluster import Cluster, Node
from tests.cluster.e2e.test_62_device_accounting import PLUGIN
from tests.cluster.manifests import pod
from tests.cluster.toolkit_process import Files, Toolkit
from tests.cluster.toolkit_worker import Ended

pytestmark = pytest.mark.e2e

NODES = (
    Node("gpu-a", containerd="2.4", gpus="2xA100-40GB"),
    Node("gpu-b", containerd="1.7", gpus="2xA100-40GB"),
)
OLD, NEW = {"runc"}, {"runc", *HANDLERS}
OLD_AND_TRAP = {"runc", "nvidia"}  # on 2.4 the trap below defines one handler by itself
DEFAULT: Final = {"environ": {"NVIDIA_RUNTIME_SET_AS_DEFAULT": "true"}}
TRAP: Final = "/etc/containerd/conf.d/zz-later.toml"
# What takes the handlers, or one of them, on each release.
TRAPS: Final = {
    "1.7": 'version = 2\n[plugins."io.containerd.grpc.v1.cri".registry]\nconfig_path = "/etc/containerd/certs.d"\n',
    "2.4": (
        "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.nvidia.options]\n"
        "BinaryName = '/usr/bin/other'\n"
    ),
}
POINTS: Final = os.environ.get("LOCKGATE_KILL_POINTS", "2")
SEED: Final = int(os.environ.get("LOCKGATE_SEED") or random.randrange(1 << 32))


@dataclass
class Trial:
    """One node and its toolkit: the files of each state, the pods that must live, and where it was killed."""

    cluster: Cluster
    toolkit: Toolkit
    stock: Files
    configured: Files = (None, None)
    default: Files = (None, None)
    pods: dict[str, str] = field(default_factory=dict)
    restarts_at: int = 0
    kills: dict[str, list[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.toolkit.node.name

    def does(self, what: str, phase: str, files: Files, **fields: object) -> Ended:
        """A run that nobody kills ends in this phase with these files, and nothing half done."""
        ended = self.toolkit.run(what, **fields)
        assert ended.phase == phase, (self.name, ended)
        assert self.toolkit.files() == files, (self.name, ended)
        assert self.toolkit.leftovers() == [], (self.name, ended)
        return ended

    def kill(self, kind: str, what: str, point: int, allowed: tuple[Files, Files], **fields: object) -> Ended:
        """Kill a run at a point (-1: let it live), and look at the node."""
        ended = self.toolkit.run(what, kill=point, **fields)
        told = (self.name, kind, point, ended.points[-3:])
        assert self.toolkit.handlers() in (OLD, NEW, *([OLD_AND_TRAP] if "meanwhile" in fields else ())), told
        for content, versions in zip(self.toolkit.files(), zip(*allowed, strict=True), strict=True):
            assert content in versions, told
        assert running(self.cluster, self.name) == self.pods, told
        if ended.killed:
            self.kills.setdefault(kind, []).append(ended.points[-1])
        return ended

    def sweep(self) -> None:
        """Every kind of run, each from the stock configuration and back to it, killed at the chosen points."""
        for kind in KINDS:
            for point in chosen(f"{SEED} {self.name}", len(kind(self, -1).points)):
                if not kind(self, point).killed and POINTS == "all":
                    break
            assert (self.toolkit.handlers(), self.toolkit.files()) == (OLD, self.stock)
            assert not self.toolkit.journal.exists()


def chosen(seed: str, count: int) -> Iterable[int]:
    """Where to kill a run that had so many points; waiting makes it a few more or less each time."""
    if POINTS == "all":
        return range(10 * count)
    return sorted(random.Random(seed).sample(range(count), min(count, int(POINTS))))


def configure(trial: Trial, point: int) -> Ended:
    """Nothing is there yet."""
    ended = trial.kill("configure", "configure", point, (trial.stock, trial.configured))
    trial.does("configure", CONFIGURED, trial.configured)
    assert trial.toolkit.handlers() == NEW
    trial.does("clean", REMOVED, trial.stock)
    return ended


def recover(trial: Trial, point: int) -> Ended:
    """A first run was killed just before its signal; the one that finishes the job is killed as well."""
    trial.kill("configure", "configure", trial.restarts_at, (trial.stock, trial.configured))
    ended = trial.kill("recover", "configure", point, (trial.stock, trial.configured))
    trial.does("configure", CONFIGURED, trial.configured)
    trial.does("clean", REMOVED, trial.stock)
    return ended


def change(trial: Trial, point: int) -> Ended:
    """Something else is wanted than what is loaded."""
    trial.does("configure", CONFIGURED, trial.configured)
    ended = trial.kill("change", "configure", point, (trial.configured, trial.default), **DEFAULT)
    trial.does("configure", CONFIGURED, trial.default, **DEFAULT)
    assert trial.toolkit.loaded().containerd.default_runtime_name == HANDLERS[0]
    trial.does("clean", REMOVED, trial.stock)
    return ended


def remove(trial: Trial, point: int) -> Ended:
    """The toolkit leaves the node."""
    trial.does("configure", CONFIGURED, trial.configured)
    ended = trial.kill("remove", "clean", point, (trial.stock, trial.configured))
    trial.does("clean", REMOVED, trial.stock)
    assert trial.toolkit.handlers() == OLD
    return ended


def take_back(trial: Trial, point: int) -> Ended:
    """Somebody's drop-in takes our handler just before containerd restarts, so the change is taken back."""
    trap = trial.toolkit.node.files / TRAP.lstrip("/")
    meanwhile = {TRAP: TRAPS[trial.toolkit.node.containerd]}
    ended = trial.kill("take back", "configure", point, (trial.stock, trial.configured), meanwhile=meanwhile)
    if not ended.killed:
        assert ended.phase == ROLLED_BACK, ended
        assert trial.toolkit.files() == trial.stock
    trap.unlink(missing_ok=True)
    trial.does("configure", CONFIGURED, trial.configured)
    assert trial.toolkit.handlers() == NEW
    trial.does("clean", REMOVED, trial.stock)
    return ended


KINDS: Final[tuple[Callable[[Trial, int], Ended], ...]] = (configure, recover, change, remove, take_back)


def running(cluster: Cluster, node: str) -> dict[str, str]:
    """The node's pods that run and never restarted, each with its container."""
    listed = json.loads(cluster.kubectl("get", "pods", "-o", "json", "--field-selector", f"spec.nodeName={node}"))
    return {
        item["metadata"]["name"]: status["containerID"]
        for item in listed["items"]
        for status in item["status"].get("containerStatuses", ())
        if (item["status"]["phase"], status["restartCount"]) == ("Running", 0)
    }


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two nodes without Lockgate, but with its device plugin as a process."""
    with Cluster(NODES) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def trials(cluster: Cluster) -> Iterator[list[Trial]]:
    """Each node with a GPU pod and another one, and its files as they were before any toolkit came."""
    with ExitStack() as stack:
        yield [prepare(cluster, stack.enter_context(Toolkit(node))) for node in cluster.nodes.values()]


def prepare(cluster: Cluster, toolkit: Toolkit) -> Trial:
    """See each state once, and start two pods in the state with CDI."""
    trial = Trial(cluster, toolkit, toolkit.files())
    ended = toolkit.run("configure")
    trial.configured, trial.restarts_at = toolkit.files(), ended.points.index("before restarting")
    toolkit.node.exec(["sh", "-c", PLUGIN])
    cluster.apply(pod(f"gpu-{trial.name}", gpus=1, on=trial.name))
    cluster.apply(pod(f"plain-{trial.name}", on=trial.name))
    cluster.wait_for(lambda: len(running(cluster, trial.name)) == 2, f"two pods on {trial.name}", 180)
    trial.pods = running(cluster, trial.name)
    toolkit.run("configure", **DEFAULT)
    trial.default = toolkit.files()
    trial.does("clean", REMOVED, trial.stock)
    return trial


def test_killed_anywhere_no_node_is_lost(cluster: Cluster, trials: list[Trial]) -> None:
    print(f"LOCKGATE_KILL_POINTS={POINTS} LOCKGATE_SEED={SEED}")
    with ThreadPoolExecutor(len(trials)) as pool:
        for done in [pool.submit(trial.sweep) for trial in trials]:
            done.result()
    for trial in trials:
        counts = {kind: len(points) for kind, points in trial.kills.items()}
        print(
            f"{trial.name}, containerd {trial.toolkit.node.containerd}: killed {sum(counts.values())} times: {counts}"
        )
        assert sum(counts.values()) >= (200 if POINTS == "all" else len(KINDS))
        # The kubelet waits some seconds before it dials a containerd again that was just restarted.
        command = ("exec", f"gpu-{trial.name}", "--", "nvidia-smi", "-L")
        cluster.wait_for(lambda c=command: "GPU 0" in cluster.kubectl(*c, check=False), "the GPU in its pod", 180)
        assert running(cluster, trial.name) == trial.pods
