"""The rollout's shell on a small API server: what it deletes, notes and says, and that another operator goes on."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from lockgate.controllers.operator import Operator
from tests.controllers.test_operator import DAEMONSETS, OURS, condition, events, policy, run_pods, settings, until
from tests.kube.fake_server import fake_api
from tests.kube.small_cluster import SmallCluster

TOOLKIT = "nvidia-container-toolkit-daemonset"
VALIDATOR = "nvidia-operator-validator"
PODS = "/api/v1/namespaces/gpu-operator/pods"
REVISIONS = "/apis/apps/v1/namespaces/gpu-operator/controllerrevisions"
STATES = "/apis/lockgate.dev/v1alpha1/gpunodestates"
NODES = ("gpu-a", "gpu-b", "gpu-c")
READY = [{"type": "Ready", "status": "True"}]


class Player:
    """Plays DaemonSet controller, kubelets and agents: a node's pods come again, configured and validated."""

    def __init__(self, cluster: SmallCluster) -> None:
        self.cluster = cluster
        self.seconds = 0
        self.refusing: set[str] = set()

    def daemonset(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.cluster.objects[f"{DAEMONSETS}/{name}"]
        return found

    def revision(self) -> str:
        """The newest template's; a ControllerRevision is made for it."""
        found = self.daemonset(TOOLKIT)
        number = found["metadata"]["generation"]
        path = f"{REVISIONS}/toolkit-{number}"
        if path not in self.cluster.objects:
            labels = {"controller-revision-hash": f"h{number}", "app": TOOLKIT}
            owner = [{"uid": found["metadata"]["uid"]}]
            self.cluster.put(path, {"metadata": {"labels": labels, "ownerReferences": owner}, "revision": number})
        return f"h{number}"

    def play(self) -> None:
        """One moment of the cluster's life."""
        self.seconds += 1
        self.revision()
        for node in NODES:
            if f"{PODS}/toolkit-{node}" not in self.cluster.objects:
                self._start_toolkit(node)
            if f"{PODS}/validator-{node}" not in self.cluster.objects:
                self._start_validator(node)
        self._publish()
        run_pods(self.cluster, len(NODES))

    def _start_toolkit(self, node: str) -> None:
        running = {"name": "ctr", "ready": True, "state": {"running": {"startedAt": self._time()}}}
        labels = {"app": TOOLKIT, "controller-revision-hash": self.revision()}
        self._pod(f"toolkit-{node}", node, labels, containerStatuses=[running])

    def _start_validator(self, node: str) -> None:
        step = {"name": "toolkit-validation", "state": {"terminated": {"startedAt": self._time()}}}
        labels = {"app": VALIDATOR, "app.kubernetes.io/part-of": "gpu-operator"}
        self._pod(f"validator-{node}", node, labels, initContainerStatuses=[step])

    def _pod(self, name: str, node: str, labels: dict[str, str], **status: Any) -> None:
        manifest = {
            "metadata": {"labels": labels},
            "spec": {"nodeName": node},
            "status": {**status, "conditions": READY},
        }
        self.cluster.put(f"{PODS}/{name}", manifest)

    def _publish(self) -> None:
        for node in NODES:
            refused = {"phase": "Refused", "message": "bad file", "pod": f"toolkit-{node}"}
            good = {"phase": "Configured", "pod": f"toolkit-{node}"}
            self.cluster.put(f"{STATES}/{node}", {"status": {"runtime": refused if node in self.refusing else good}})

    def _time(self) -> str:
        return f"2026-01-01T00:{self.seconds // 60:02d}:{self.seconds % 60:02d}Z"

    def deletions(self, kind: str = "toolkit") -> list[str]:
        """Nodes whose pods were deleted, in order."""
        gone = [path for method, path in self.cluster.calls if method == "DELETE"]
        return [path.removeprefix(f"{PODS}/{kind}-") for path in gone if path.startswith(f"{PODS}/{kind}-")]


def make() -> SmallCluster:
    cluster = SmallCluster()
    for name in NODES:
        labels = {"feature.node.kubernetes.io/pci-10de.present": "true"}
        status = {"allocatable": {"nvidia.com/gpu": "2"}, "conditions": READY}
        cluster.put(f"/api/v1/nodes/{name}", {"metadata": {"labels": labels}, "status": status})
    return cluster


def run(*bodies: Callable[[Player], Awaitable[None]]) -> None:
    """Each body has an operator of its own; the cluster is the same."""

    async def main() -> None:
        cluster = make()
        player = Player(cluster)
        async with fake_api(cluster.handle) as (_, api, _waits):
            for body in bodies:
                operator = asyncio.create_task(Operator(settings(), api).run())
                playing = asyncio.create_task(keep_playing(player))
                try:
                    await body(player)
                finally:
                    for task in (operator, playing):
                        task.cancel()
                    await asyncio.gather(operator, playing, return_exceptions=True)

    asyncio.run(asyncio.wait_for(main(), 50))


async def keep_playing(player: Player) -> None:
    while True:
        await asyncio.sleep(0.1)
        if f"{DAEMONSETS}/{VALIDATOR}" in player.cluster.objects:
            player.play()


async def installed(player: Player) -> None:
    policy(player.cluster)
    await until(lambda: condition(player.cluster, "ContainerToolkitReady").get("reason") == "Running", 15)


def change(player: Player, value: str, **more: Any) -> None:
    found = player.cluster.objects["/apis/nvidia.com/v1/clusterpolicies/cluster-policy"]
    spec = {**OURS, "toolkit": {"env": [{"name": "X", "value": value}]}, **more}
    player.cluster.put("/apis/nvidia.com/v1/clusterpolicies/cluster-policy", {**found, "spec": spec})


def toolkit(player: Player) -> dict[str, Any]:
    return condition(player.cluster, "ContainerToolkitReady")


def test_a_fresh_install_deletes_nothing() -> None:
    async def body(player: Player) -> None:
        await installed(player)
        await asyncio.sleep(1.5)
        assert player.deletions() == player.deletions("validator") == []
        assert player.daemonset(TOOLKIT)["spec"]["updateStrategy"] == {"type": "OnDelete"}

    run(body)


def test_a_change_stops_at_the_first_failure_and_another_operator_goes_on_when_it_is_gone() -> None:
    async def first(player: Player) -> None:
        await installed(player)
        player.refusing.add("gpu-b")
        change(player, "new")
        await until(lambda: toolkit(player).get("reason") == "RolloutStopped", 15)
        assert "gpu-b: its toolkit says Refused: bad file" in toolkit(player)["message"]
        told = [event["message"] for event in events(player.cluster) if event["reason"] == "RolloutStopped"]
        assert any("gpu-b" in text for text in told)
        await asyncio.sleep(1.5)
        assert set(player.deletions()) <= {"gpu-a", "gpu-b"}

    async def second(player: Player) -> None:
        await until(lambda: toolkit(player).get("reason") == "RolloutStopped")
        player.refusing.clear()
        await until(lambda: toolkit(player).get("reason") == "Running", 15)
        assert sorted(player.deletions()) == list(NODES), "each node once"
        assert sorted(player.deletions("validator")) == list(NODES)
        await until(lambda: any(event["reason"] == "RolledOut" for event in events(player.cluster)))

    run(first, second)


def test_a_node_without_gpus_keeps_its_toolkit_until_it_has_some_and_the_condition_says_so() -> None:
    async def body(player: Player) -> None:
        await installed(player)
        node = player.cluster.objects["/api/v1/nodes/gpu-a"]
        player.cluster.put("/api/v1/nodes/gpu-a", {**node, "status": {"conditions": READY}})
        change(player, "new")
        await until(lambda: player.deletions() == ["gpu-b", "gpu-c"], 15)
        held = "gpu-a keeps the old one until it is mended: it has no allocatable GPU"
        await until(lambda: held in toolkit(player).get("message", ""))
        assert toolkit(player)["status"] == "False"
        mended = player.cluster.objects["/api/v1/nodes/gpu-a"]
        player.cluster.put("/api/v1/nodes/gpu-a", {**mended, "status": node["status"]})
        await until(lambda: toolkit(player).get("reason") == "Running", 15)
        assert player.deletions() == ["gpu-b", "gpu-c", "gpu-a"]

    run(body)


def test_where_a_person_deletes_the_pods_the_operator_only_says_which() -> None:
    by_hand = {"daemonsets": {"updateStrategy": "OnDelete"}}

    async def body(player: Player) -> None:
        await installed(player)
        change(player, "new", **by_hand)
        await until(lambda: toolkit(player).get("reason") == "RolloutOnDelete", 15)
        assert "gpu-a, gpu-b, gpu-c: delete the toolkit's pod" in toolkit(player)["message"]
        await asyncio.sleep(1)
        assert player.deletions() == []

    run(body)


def test_a_budget_of_all_nodes_takes_them_at_once() -> None:
    async def body(player: Player) -> None:
        await installed(player)
        player.refusing.update(NODES)
        change(player, "new", daemonsets={"rollingUpdate": {"maxUnavailable": "100%"}})
        await until(lambda: sorted(player.deletions()) == list(NODES), 15)

    run(body)
