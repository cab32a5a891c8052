"""A running cluster written down as the folder that `kubectl gpu why --from` reads: objects, logs, files of the nodes.

Objects look as `kubectl get -A -o json` shows them (a List, no managedFields). Secrets are left out, and what says
nothing about pods and nodes, so that a bundle stays small.
"""

import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.cluster.api import Api
from tests.cluster.repository import REPOSITORY

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster
    from tests.cluster.node import RunningNode

_LEFT_OUT_GROUPS = {"events.k8s.io", "flowcontrol.apiserver.k8s.io", "apiregistration.k8s.io", "apiextensions.k8s.io"}
_LEFT_OUT = {
    "secrets",
    "componentstatuses",
    "clusterroles",
    "clusterrolebindings",
    "roles",
    "rolebindings",
    "ipaddresses",
    "servicecidrs",
    "endpoints",
    "csinodes",
    "podcertificaterequests",
    "clustertrustbundles",
    "serviceaccounts",
}
_LOG_LINES = 2000
_UNFINISHED = shutil.ignore_patterns(".lockgate-*")  # being written: gone before it could be copied
# Files of a node, each with the path that the bundle's reader knows it by.
_NODE_FILES = {
    "etc/containerd": "etc/containerd",
    "etc/cdi": "etc/cdi",
    "run/cdi": "var/run/cdi",
    "run/nvidia/validations": "run/nvidia/validations",
    "proc/version": "proc/version",
    "proc/modules": "proc/modules",
    "etc/os-release": "etc/os-release",
}
_DRIVER = "/run/nvidia/driver/usr"
_SMI = f"LD_LIBRARY_PATH={_DRIVER}/lib/x86_64-linux-gnu exec {_DRIVER}/bin/nvidia-smi"
# Output of commands in the node, by file name; what fails is left out.
_NODE_COMMANDS = {
    "containerd-version.txt": ("containerd", "--version"),
    "containerd-config-dump.toml": ("containerd", "config", "dump"),
    "nvidia-smi.txt": ("sh", "-c", _SMI),
    "nvidia-smi-L.txt": ("sh", "-c", f"{_SMI} -L"),
}


def save(cluster: "Cluster", path: Path) -> Path:
    """Write the bundle to `path`: a tar when it ends in .tgz or .tar.gz, a folder otherwise; returns `path`."""
    if not path.name.endswith((".tgz", ".tar.gz")):
        _write(cluster, path)
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        name = path.name.removesuffix(".tgz").removesuffix(".tar.gz")
        _write(cluster, Path(scratch) / name)
        with tarfile.open(path, "w:gz") as tar:
            tar.add(Path(scratch) / name, name)
    return path


def keep(cluster: "Cluster", name: str) -> str:
    """Save a bundle of a failure and say where, in a line for the report.

    The folder is `artifacts` in the repository, or what LOCKGATE_ARTIFACTS names. A cluster too broken to be read is
    said, and does not hide the failure.
    """
    folder = Path(os.environ.get("LOCKGATE_ARTIFACTS") or REPOSITORY / "artifacts")
    try:
        return f"bundle kept: kubectl gpu why --from {save(cluster, folder / f'{name}.tgz')}"
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        return f"no bundle could be kept: {error!r}"


def _write(cluster: "Cluster", folder: Path) -> None:
    api = Api(cluster.kubeconfig)
    for plural, objects in _objects(api):
        _text(folder / "cluster" / f"{plural}.json", json.dumps(objects, indent=1))
        if plural == "pods":
            _logs(api, objects["items"], folder / "logs")
    for node in cluster.nodes.values():
        _node(node, folder / "nodes" / node.name)


def _objects(api: Api) -> Iterator[tuple[str, dict[str, Any]]]:
    seen: set[str] = set()
    for path in ("/api/v1", *_groups(api)):
        version = path.removeprefix("/apis/").removeprefix("/api/")
        for resource in api.get(path)["resources"]:
            plural = resource["name"]
            if "list" in resource["verbs"] and "/" not in plural and plural not in _LEFT_OUT | seen:
                seen.add(plural)
                yield plural, _list(api, path, version, plural, resource["kind"])


def _groups(api: Api) -> Iterator[str]:
    for group in api.get("/apis")["groups"]:
        if group["name"] not in _LEFT_OUT_GROUPS:
            yield f"/apis/{group['preferredVersion']['groupVersion']}"


def _list(api: Api, path: str, version: str, plural: str, kind: str) -> dict[str, Any]:
    items = api.get(f"{path}/{plural}")["items"]
    for item in items:
        item["metadata"].pop("managedFields", None)
    named = [{"apiVersion": version, "kind": kind} | item for item in items]
    return {"apiVersion": "v1", "items": named, "kind": "List", "metadata": {"resourceVersion": ""}}


def _logs(api: Api, pods: list[dict[str, Any]], folder: Path) -> None:
    for pod in pods:
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        statuses = pod.get("status", {})
        for status in (*statuses.get("initContainerStatuses", []), *statuses.get("containerStatuses", [])):
            path = f"/api/v1/namespaces/{namespace}/pods/{name}/log?container={status['name']}&tailLines={_LOG_LINES}"
            stem = folder / namespace / name / status["name"]
            _try(partial(api.get_text, path), stem.with_name(f"{stem.name}.log"))
            if status["restartCount"]:
                _try(partial(api.get_text, f"{path}&previous=true"), stem.with_name(f"{stem.name}.previous.log"))


def _node(node: "RunningNode", folder: Path) -> None:
    for inside, path in _NODE_FILES.items():
        source, target = node.files / inside, folder / path
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, ignore=_UNFINISHED)
        elif source.is_file():
            _text(target, source.read_text(errors="replace"))
    for name, command in _NODE_COMMANDS.items():
        _try(partial(node.exec, command), folder / name)
    for program in ("kubelet", "containerd", "kube-proxy"):
        _text(folder / f"{program}.txt", "".join(node.log(program).splitlines(keepends=True)[-_LOG_LINES:]))


def _try(read: Callable[[], str], path: Path) -> None:
    # A container that never started has no log, a stopped containerd no answer: absent means "not known".
    try:
        _text(path, read())
    except (OSError, RuntimeError, subprocess.SubprocessError):
        return


def _text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
