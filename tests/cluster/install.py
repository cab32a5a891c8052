"""Lockgate in the test cluster: its image on every node, the chart installed by Helm, the wait until it is ready."""

import json
import os
import subprocess
import time
from pathlib import Path

from deploy.cache import cache_folder
from deploy.image import build as image
from tests.cluster import Cluster

REPOSITORY = Path(__file__).parents[2]
NAMESPACE = "gpu-operator"
TAG = "test"


def install(cluster: Cluster, *values: str, timeout: float = 180) -> float:
    """Install as the README says and wait for `state: ready`; the seconds from `helm install` to ready.

    `values` are `key=value` for Helm's `--set`. Raises TimeoutError with the policy's own conditions.
    """
    import_image(cluster)
    started = time.monotonic()
    helm(cluster, "install", *values)
    wait_until_ready(cluster, timeout=timeout)
    return time.monotonic() - started


def import_image(cluster: Cluster) -> None:
    """Build the image from this checkout and put it on every node."""
    archive = cache_folder() / "lockgate-test.tar"
    image.build(archive, TAG, cache_folder())
    cluster.import_image(archive)


def helm(cluster: Cluster, verb: str, *values: str) -> str:
    """`helm install|upgrade|uninstall` of our chart against the cluster."""
    command = [str(cluster.program("helm")), verb, "lockgate"]
    if verb != "uninstall":
        command += [str(REPOSITORY / "deploy/chart"), "--set", f"image.tag={TAG}"]
        command += [part for value in values for part in ("--set", value)]
    if verb == "install":
        command += ["--create-namespace"]
    command += ["--namespace", NAMESPACE]
    done = subprocess.run(
        command, env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[1:3])} failed:\n{done.stderr}")
    return done.stdout


def policy(cluster: Cluster, name: str = "cluster-policy") -> dict[str, object]:
    """The ClusterPolicy's status, {} while there is none."""
    listed = json.loads(cluster.kubectl("get", "clusterpolicies.nvidia.com", "-o", "json"))
    found = [item.get("status", {}) for item in listed["items"] if item["metadata"]["name"] == name]
    return found[0] if found else {}


def wait_until_ready(cluster: Cluster, timeout: float = 180) -> None:
    """Until the policy says `ready`, and not before."""
    deadline = time.monotonic() + timeout
    while policy(cluster).get("state") != "ready":
        if time.monotonic() > deadline:
            raise TimeoutError(
                f"the policy is not ready after {timeout:.0f} s: {json.dumps(policy(cluster), indent=1)}"
            )
        time.sleep(0.5)
