"""Before uninstalling: the policy goes while an operator removes it, and does not stay for ever when none does."""

import asyncio
import json

import pytest

from lockgate.controllers.__main__ import main
from lockgate.controllers.cleanup import clean
from tests.controllers.test_operator import POLICIES, policy
from tests.kube.fake_server import fake_api
from tests.kube.small_cluster import SmallCluster


def cleaned(cluster: SmallCluster, timeout: float) -> int:
    async def run() -> int:
        policy(cluster, finalizers=["lockgate.dev/node-labels", "somebody.else/too"])
        policy(cluster, "second")
        async with fake_api(cluster.handle) as (_, api, _waits):
            return await clean(api, timeout, pause=0.05)

    return asyncio.run(run())


def test_without_an_operator_the_policy_is_let_go_and_what_stays_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    cluster = SmallCluster()
    assert cleaned(cluster, timeout=0.2) == 0
    assert f"{POLICIES}/second" not in cluster.objects
    left = cluster.objects[f"{POLICIES}/cluster-policy"]["metadata"]
    assert left["finalizers"] == ["somebody.else/too"], "only our own finalizer is ours to take"
    said = [json.loads(line)["cleanup"] for line in capsys.readouterr().out.splitlines()]
    assert "kubectl label nodes --all nvidia.com/gpu.present-" in said[-1]


def test_the_operator_says_in_one_line_that_it_has_no_cluster(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere")
    monkeypatch.setenv("OPERATOR_NAMESPACE", "ns")
    assert main([]) == 1
    assert capsys.readouterr().err == (
        "lockgate-operator: no kubeconfig found (/nowhere); give --kubeconfig, or set KUBECONFIG\n"
    )
