"""A pod or workload from a file that a person would apply: the pod that it makes, and how many."""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from lockgate.collect.bounds import MAX_TEXT, read_within
from lockgate.collect.custom_owner import Found, pod_templates
from lockgate.collect.decode import any_objects, typed, untyped
from lockgate.collect.errors import InputError
from lockgate.collect.members import read_file
from lockgate.model import names
from lockgate.model.facts import BY_KIND, ApiSection
from lockgate.model.objects import CronJob, Metadata, Pod, PodTemplate, Workload, WorkloadSpec

_WORKLOADS: Final = ("Deployment", "ReplicaSet", "StatefulSet", "Job", "CronJob")
_JOBS: Final = ("Job", "CronJob")
_OF_NODES: Final = "DaemonSet"
_NO_WORKLOAD: Final = frozenset((*BY_KIND, "CustomResourceDefinition")) - {"Pod", *_WORKLOADS}


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a file asks about: `name` as a person would say it, its pod, the copies that it wants.

    `others` are workloads of the file that are not asked about; `counted` says where copies of a custom kind come from.
    """

    name: str
    pod: Pod
    copies: int = 1
    counted: str = ""
    others: tuple[str, ...] = ()

    def with_pod(self, pod: Pod) -> "Asked":
        """The same about a changed pod."""
        return msgspec.structs.replace(self, pod=pod)


def read_manifest(path: str, stdin: BinaryIO, namespace: str) -> Asked:
    """The first workload of a file (`-` is stdin) that asks for a GPU, else its first: a pod, a workload, or an object
    of any kind with a pod template in it.

    Raises InputError with one line for anything else.
    """
    name = "standard input" if path == "-" else path
    data = read_within(stdin, name) if path == "-" else _read(path)
    objects = list(any_objects(name, data))
    found = [asked for kind, raw in objects for asked in _asked(name, kind, raw, namespace)]
    of_nodes = [_called(kind, typed(name, raw, BY_KIND[kind]).metadata) for kind, raw in objects if kind == _OF_NODES]
    if not found:
        raise InputError(f"{name}: {_nothing(of_nodes, [kind or 'object without a kind' for kind, _ in objects])}")
    first = next((each for each in found if _asks_gpus(each.pod)), found[0])
    others = (*(each.name for each in found if each is not first), *of_nodes)
    return msgspec.structs.replace(first, others=others)


def _read(path: str) -> bytes:
    try:
        return read_file(Path(path), MAX_TEXT)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def _nothing(of_nodes: list[str], kinds: list[str]) -> str:
    if of_nodes:
        return (
            f"{of_nodes[0]} wants a pod on every node that it targets, and no number of copies: ask about its pod "
            f"template as a Pod, or `kubectl gpu why ds/NAME` which nodes a DaemonSet leaves out"
        )
    expected = f"a Pod, {', '.join(_WORKLOADS)} or another kind with a pod template"
    return f"holds {', '.join(kinds) or 'nothing'}; expected {expected}"


def _asked(name: str, kind: str, raw: bytes, namespace: str) -> Iterator[Asked]:
    match kind:
        case "Pod":
            pod: Pod = typed(name, raw, BY_KIND[kind])
            # A pod that runs already is asked about as if it were new.
            new = PodTemplate(metadata=pod.metadata, spec=msgspec.structs.replace(pod.spec, node_name=""))
            yield Asked(name=_called(kind, pod.metadata), pod=_new(pod.metadata, new, namespace))
        case "CronJob":
            cron: CronJob = typed(name, raw, BY_KIND[kind])
            yield _of_workload(kind, cron.metadata, cron.spec.job_template.spec, namespace)
        case _ if kind in _WORKLOADS:
            workload: Workload = typed(name, raw, BY_KIND[kind])
            yield _of_workload(kind, workload.metadata, workload.spec, namespace)
        case _ if kind in _NO_WORKLOAD:
            return
        case _:
            yield from _of_custom(name, kind, raw, namespace)


def _of_workload(kind: str, metadata: Metadata, spec: WorkloadSpec, namespace: str) -> Asked:
    copies = _at_once(spec) if kind in _JOBS else spec.replicas
    pod = _new(metadata, spec.template, namespace)
    return Asked(name=_called(kind, metadata), pod=pod, copies=1 if copies is None else max(copies, 1))


def _at_once(job: WorkloadSpec) -> int:
    """How many pods of a Job run at the same time: never more than are to complete."""
    parallelism = 1 if job.parallelism is None else job.parallelism  # as the API server fills it
    return parallelism if job.completions is None else min(parallelism, job.completions)


def _of_custom(name: str, kind: str, raw: bytes, namespace: str) -> Iterator[Asked]:
    document = untyped(name, raw)
    found = list(pod_templates(document.get("spec")))
    for each in found:
        workload = _typed_template(name, kind, document, each)
        part = f" ({'.'.join(each.path)})" if len(found) > 1 else ""
        called = f"{_called(kind, workload.metadata)}{part}"
        yield Asked(
            name=called,
            pod=_new(workload.metadata, workload.spec.template, namespace),
            copies=max(each.copies, 1),
            counted=f"{called} is taken for {max(each.copies, 1)} by its replicas; --copies says otherwise",
        )


def _typed_template(name: str, kind: str, document: dict[str, object], found: Found) -> Workload:
    body = {"kind": kind, "metadata": document.get("metadata"), "spec": {"template": found.template}}
    workload: Workload = typed(name, msgspec.json.encode(body), ApiSection("", "", kind, Workload))
    return workload


def _new(metadata: Metadata, template: PodTemplate, namespace: str) -> Pod:
    """The pod as its controller makes it: the template's labels, in the namespace of the workload."""
    return Pod(
        metadata=msgspec.structs.replace(
            template.metadata, name=metadata.name or "ask", namespace=metadata.namespace or namespace
        ),
        spec=template.spec,
    )


def _called(kind: str, metadata: Metadata) -> str:
    return f"{kind} {metadata.name}".strip()


def _asks_gpus(pod: Pod) -> bool:
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    return any(names.is_gpu_resource(name) for c in containers for name in (*c.resources.limits, *c.resources.requests))
