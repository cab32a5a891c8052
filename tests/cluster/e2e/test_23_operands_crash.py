"""Operands that crash or fail at their work: a real kubelet keeps their last words, and `why` finds the cause in them.

The operands are stand-ins with NVIDIA's names that print what the real ones print; all else is real.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.asking import why_live_and_saved
from tests.cluster.images import TEST
from tests.cluster.install import NAMESPACE

pytestmark = pytest.mark.e2e

NODE = "gpu-a"
STATE = "nvidia.com/mig.config.state"


def test_a_driver_that_is_not_built_is_named_by_its_last_words(cluster: Cluster) -> None:
    with operand(cluster, "nvidia-driver-daemonset", "echo 'Could not resolve Linux kernel version' >&2; exit 1"):
        cluster.wait_for(lambda: crashes(cluster, "nvidia-driver-daemonset"), "the driver crashes again and again", 240)
        for answer in why_live_and_saved(cluster, f"node/{NODE}", "driver-kernel-packages"):
            assert answer.ids[:1] == ["driver/kernel-packages"], answer.text
            assert "Could not resolve Linux kernel version" in answer.evidence("driver/kernel-packages")
            assert answer.code == 3, "an error, though the GPUs of the node are still offered"


def test_an_exporter_that_reaches_no_dcgm_is_a_warning(cluster: Cluster) -> None:
    said = "Attempting to connect to remote hostengine at nvidia-dcgm:5555\nError connecting to nv-hostengine"
    with operand(cluster, "nvidia-dcgm-exporter", f"printf '{said}\\n'; exit 1"):
        cluster.wait_for(lambda: crashes(cluster, "nvidia-dcgm-exporter"), "the exporter crashes again", 240)
        for answer in why_live_and_saved(cluster, f"node/{NODE}", "exporter-unconnected"):
            assert answer.ids[:1] == ["operands/exporter-unconnected"], answer.text
            assert answer.code == 4, answer.text


def test_a_mig_manager_that_is_ready_and_has_failed_is_read(cluster: Cluster) -> None:
    said = "Error: selected mig-config not present: all-9g.90gb"
    cluster.kubectl("label", "node", NODE, f"{STATE}=failed", "--overwrite")
    try:
        with operand(cluster, "nvidia-mig-manager", f"echo '{said}'; sleep infinity"):
            cluster.wait_for(lambda: ready(cluster, "nvidia-mig-manager"), "the MIG manager is ready", 180)
            for answer in why_live_and_saved(cluster, f"node/{NODE}", "mig-config-unknown"):
                assert answer.ids[:1] == ["mig/config-unknown"], answer.text
                assert "all-9g.90gb" in answer.evidence("mig/config-unknown")
    finally:
        cluster.kubectl("label", "node", NODE, f"{STATE}-")


def test_what_crashed_before_and_is_ready_now_is_no_fault(cluster: Cluster) -> None:
    once = "test -e /seen/it && sleep infinity; touch /seen/it; echo 'Error connecting to nv-hostengine'; exit 1"
    with operand(cluster, "nvidia-dcgm-exporter", once, keeps="/seen"):
        cluster.wait_for(lambda: ready(cluster, "nvidia-dcgm-exporter"), "the exporter is ready at its second run", 180)
        for answer in why_live_and_saved(cluster, f"node/{NODE}", "exporter-recovered"):
            assert (answer.code, answer.ids) == (0, []), answer.text


@contextmanager
def operand(cluster: Cluster, name: str, script: str, keeps: str = "") -> Iterator[None]:
    """An operand's DaemonSet on one node for the length of a test; `keeps` is a folder that outlives its restarts."""
    container: dict[str, Any] = {"name": "main", "image": TEST, "command": ["sh", "-c", script]}
    spec: dict[str, Any] = {
        "nodeSelector": {"kubernetes.io/hostname": NODE},
        "tolerations": [{"operator": "Exists"}],
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "containers": [container],
    }
    if keeps:
        container["volumeMounts"] = [{"name": "kept", "mountPath": keeps}]
        spec["volumes"] = [{"name": "kept", "emptyDir": {}}]
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": spec}
    metadata = {"name": name, "namespace": NAMESPACE, "labels": labels}
    body = {"selector": {"matchLabels": labels}, "template": template}
    cluster.apply(json.dumps({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": body}))
    try:
        yield
    finally:
        cluster.kubectl("delete", "daemonset", name, "-n", NAMESPACE, "--ignore-not-found", "--wait=true")
        cluster.wait_for(lambda: not status(cluster, name), f"{name} is gone", 180)


def status(cluster: Cluster, name: str) -> dict[str, Any]:
    """The status of the operand's container; {} while there is none."""
    listed = json.loads(cluster.kubectl("get", "pods", "-n", NAMESPACE, "-l", f"app={name}", "-o", "json"))
    own = [each for pod in listed["items"] for each in pod["status"].get("containerStatuses", ())]
    return own[0] if own else {}


def crashes(cluster: Cluster, name: str) -> bool:
    """Whether its container crashes again and again: from its second restart on it is known as such in any state."""
    return int(status(cluster, name).get("restartCount", 0)) >= 2


def ready(cluster: Cluster, name: str) -> bool:
    return bool(status(cluster, name).get("ready"))
