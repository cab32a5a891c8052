"""A pod or workload from a file that a person would apply: the pod that it makes, and how many."""

from pathlib import Path
from typing import BinaryIO

import msgspec

from lockgate.collect.bounds import MAX_FILE, too_large
from lockgate.collect.decode import any_objects, typed
from lockgate.collect.errors import InputError
from lockgate.collect.members import read_file
from lockgate.model.facts import BY_KIND
from lockgate.model.objects import Pod, PodTemplate, Workload

_WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "Job")


def read_manifest(path: str, stdin: BinaryIO, namespace: str) -> tuple[Pod, int]:
    """The first pod, Deployment, ReplicaSet, StatefulSet or Job of a file (`-` is stdin), and its copies.

    Raises InputError with one line for anything else.
    """
    name, data = ("standard input", stdin.read(MAX_FILE + 1)) if path == "-" else (path, _read(path))
    if len(data) > MAX_FILE:
        raise too_large(name, len(data), MAX_FILE)
    kinds = []
    for kind, raw in any_objects(name, data):
        kinds.append(kind or "object without a kind")
        if kind == "Pod":
            return _in_namespace(typed(name, raw, BY_KIND[kind]), namespace), 1
        if kind in _WORKLOADS:
            return _of_workload(typed(name, raw, BY_KIND[kind]), namespace)
    expected = f"a Pod, {', '.join(_WORKLOADS)}"
    raise InputError(f"{name}: holds {', '.join(kinds) or 'nothing'}; expected {expected}")


def _read(path: str) -> bytes:
    try:
        return read_file(Path(path))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def _of_workload(workload: Workload, namespace: str) -> tuple[Pod, int]:
    template: PodTemplate = workload.spec.template
    copies = workload.spec.parallelism if workload.kind == "Job" else workload.spec.replicas
    metadata = msgspec.structs.replace(
        template.metadata, name=workload.name or "ask", namespace=workload.namespace or namespace
    )
    return Pod(metadata=metadata, spec=template.spec), 1 if copies is None else max(copies, 1)


def _in_namespace(pod: Pod, namespace: str) -> Pod:
    metadata = msgspec.structs.replace(pod.metadata, name=pod.name or "ask", namespace=pod.namespace or namespace)
    # A pod that runs already is asked about as if it were new.
    return Pod(metadata=metadata, spec=msgspec.structs.replace(pod.spec, node_name=""))
