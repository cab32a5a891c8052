"""Facts for rule cases: a case names objects and says only how they differ from ordinary ones.

    nodes:
      gpu-a: {status: {allocatable: {nvidia.com/gpu: "0"}}}      # an ordinary node has 2 Tesla T4, all healthy
    pods:
      default/x: {}                                              # an ordinary pod asks for one GPU and has no node
      default/y: {like: running, spec: {nodeName: gpu-a}}        # or is like: running, plugin, refused, creating

What a case gives has the shape of Kubernetes and is merged over the ordinary object; null takes a key away. A section
that is not given is known and empty; `missing: [pods]` makes it unknown; `taken_at` is the moment of the facts.
`operator: {nodes: [gpu-a]}` adds a whole operator (see `operator_estate`). Many objects alike: `gpu-#: {times: 500}`,
where every # in it becomes 1 to 500.
"""

import copy
import datetime as dt
from collections.abc import Iterator
from typing import Any

import msgspec

from lockgate.model.facts import API_SECTIONS, Log, Missing, NodeFiles, Snapshot
from lockgate.model.objects import Pod, Workload
from tests.rules.operator_estate import with_operator

_PREVIOUS = ".previous"  # behind a container's name: the log of its run before
_PLUGIN = "nvidia-device-plugin-daemonset"
_DEPLOY = "nvidia.com/gpu.deploy.device-plugin"
_GPU = "nvidia.com/gpu"
_ONE = {_GPU: "1"}

_NODE: dict[str, Any] = {
    "metadata": {
        "labels": {
            "feature.node.kubernetes.io/pci-10de.present": "true",
            "nvidia.com/gpu.present": "true",
            "nvidia.com/gpu.product": "Tesla-T4",
            _DEPLOY: "true",
        }
    },
    "status": {
        "capacity": {"cpu": "8", "memory": "64Gi", "pods": "110", _GPU: "2"},
        "allocatable": {"cpu": "8", "memory": "64Gi", "pods": "110", _GPU: "2"},
        "nodeInfo": {"containerRuntimeVersion": "containerd://2.1.9"},
    },
}
_MAIN: dict[str, Any] = {"name": "main", "image": "app:1", "resources": {"limits": _ONE, "requests": _ONE}}
PODS: dict[str, dict[str, Any]] = {
    "pending": {"spec": {"containers": [_MAIN]}, "status": {"phase": "Pending"}},
    "running": {
        "spec": {"containers": [_MAIN]},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}],
            "containerStatuses": [
                {"name": "main", "ready": True, "state": {"running": {}}, "allocatedResources": _ONE}
            ],
        },
    },
    "creating": {
        "spec": {"nodeName": "gpu-a", "containers": [_MAIN]},
        "status": {
            "phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "True"}],
            "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "ContainerCreating"}}}],
        },
    },
    "refused": {
        "spec": {"nodeName": "gpu-a", "containers": [_MAIN]},
        "status": {"phase": "Failed", "reason": "UnexpectedAdmissionError"},
    },
    "failed": {
        "spec": {"nodeName": "gpu-a", "containers": [_MAIN]},
        "status": {
            "phase": "Failed",
            "containerStatuses": [
                {
                    "name": "main",
                    "state": {"terminated": {"reason": "Error", "exitCode": 1}},
                    "allocatedResources": _ONE,
                }
            ],
        },
    },
    "plugin": {
        "metadata": {"ownerReferences": [{"kind": "DaemonSet", "name": _PLUGIN, "controller": True}]},
        "spec": {"containers": [{"name": "nvidia-device-plugin"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    },
}
_DAEMON_SETS: dict[str, dict[str, Any]] = {
    f"gpu-operator/{_PLUGIN}": {
        "spec": {
            "template": {
                "spec": {"nodeSelector": {_DEPLOY: "true"}, "tolerations": [{"key": _GPU, "operator": "Exists"}]}
            }
        },
        "status": {"desiredNumberScheduled": 1},
    }
}
_KINDS = {
    "pod": "Pod",
    "rs": "ReplicaSet",
    "deploy": "Deployment",
    "sts": "StatefulSet",
    "ds": "DaemonSet",
    "job": "Job",
    "node": "Node",
    "policy": "ClusterPolicy",
}
# What a case gives that is no object of a known kind.
_BESIDE = {"files", "logs", "missing", "custom_owners", "taken_at"}
_ORDINARY: dict[str, Any] = {
    "nodes": _NODE,
    "runtime_classes": {"handler": "nvidia"},
    "deployments": {"kind": "Deployment", "spec": {"replicas": 1, "template": {"spec": {"containers": [_MAIN]}}}},
    "replica_sets": {"kind": "ReplicaSet", "spec": {"replicas": 1}},
    "jobs": {"kind": "Job", "spec": {"template": {"spec": {"containers": [_MAIN]}}}},
}


def snapshot(facts: dict[str, Any]) -> Snapshot:
    """The snapshot that a case describes."""
    return snapshot_of(objects(facts), beside(facts))


def beside(facts: dict[str, Any]) -> dict[str, Any]:
    """What a case gives beside its objects."""
    return {k: v for k, v in facts.items() if k in _BESIDE}


def objects(facts: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The objects of the API that a case describes, by section, as an API server would give them."""
    given = {"daemon_sets": _DAEMON_SETS} | (with_operator(facts) if "operator" in facts else facts)
    unknown = set(given) - {s.section for s in API_SECTIONS} - _BESIDE - {"said"}
    assert not unknown, f"unknown sections {sorted(unknown)}"
    made = {
        section.section: [
            _object(section.section, each, own)
            for name, o in given.get(section.section, {}).items()
            for each, own in _repeated(name, dict(o or {}))
        ]
        for section in API_SECTIONS
    }
    made["events"] += [_event(e) for e in given.get("said", ())]
    return made


def snapshot_of(made: dict[str, list[dict[str, Any]]], beside: dict[str, Any]) -> Snapshot:
    """The snapshot of such objects, and of the files, logs and missing sections that a case gives beside them."""
    sections: dict[str, Any] = {
        s.section: tuple(msgspec.convert(o, s.type) for o in made[s.section]) for s in API_SECTIONS
    }
    sections["namespace_pods"] = sections["pods"]
    sections["node_files"] = tuple(_files(node, own) for node, own in beside.get("files", {}).items())
    sections["logs"] = tuple(_logs(sections["pods"], beside.get("logs", {})))
    owners = (_object("custom_owners", name, own) for name, own in beside.get("custom_owners", {}).items())
    sections["custom_owners"] = tuple(msgspec.convert(owner, Workload) for owner in owners)
    if "taken_at" in beside:
        sections["taken_at"] = msgspec.convert(beside["taken_at"], dt.datetime)
    for name in beside.get("missing", ()):
        sections[name] = Missing("may not be read", "ask for it")
    return Snapshot(**sections)


def _logs(pods: tuple[Pod, ...], given: dict[str, str]) -> Iterator[Log]:
    """Those that a case gives; where it gives none all were read, and say nothing."""
    silent = (
        f"{p.namespace}/{p.name}/{s.name}"
        for p in pods
        for s in (*p.status.init_container_statuses, *p.status.container_statuses)
    )
    for place, text in (given or dict.fromkeys(silent, "")).items():
        yield Log(*place.removesuffix(_PREVIOUS).split("/"), text, place.endswith(_PREVIOUS))


def _repeated(name: str, own: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    times = own.pop("times", None)
    return [(name, own)] if times is None else [(_numbered(name, n), _numbered(own, n)) for n in range(1, times + 1)]


def _numbered(value: Any, number: int) -> Any:
    match value:
        case str():
            return value.replace("#", str(number))
        case dict():
            return {_numbered(k, number): _numbered(v, number) for k, v in value.items()}
        case list():
            return [_numbered(v, number) for v in value]
        case _:
            return value


def _object(section: str, name: str, own: dict[str, Any]) -> dict[str, Any]:
    own = dict(own or {})
    like = own.pop("like", "pending")
    ordinary = PODS[like] if section == "pods" else _ORDINARY.get(section, {})
    namespace, _, short = name.rpartition("/")
    return _merged(_merged(ordinary, {"metadata": {"name": short, "namespace": namespace}}), own)


def _merged(ordinary: Any, own: Any) -> Any:
    if not (isinstance(ordinary, dict) and isinstance(own, dict)):
        return copy.deepcopy(own)
    both = {k: _merged(ordinary[k], own[k]) if k in own else copy.deepcopy(ordinary[k]) for k in ordinary}
    both |= {k: copy.deepcopy(v) for k, v in own.items() if k not in ordinary}
    return {k: v for k, v in both.items() if v is not None}


def _event(own: dict[str, Any]) -> dict[str, Any]:
    """`{about: pod/default/x, container: main, reason, message}`; a Warning unless it says otherwise."""
    kind, _, place = own["about"].partition("/")
    namespace, _, name = place.rpartition("/")
    about = {"kind": _KINDS[kind], "namespace": namespace, "name": name}
    if "container" in own:
        about["fieldPath"] = f"spec.containers{{{own['container']}}}"
    return {"type": "Warning", "involvedObject": about} | {
        k: v for k, v in own.items() if k not in ("about", "container")
    }


def _files(node: str, own: dict[str, str]) -> NodeFiles:
    return NodeFiles(
        node, {p: t for p, t in own.items() if p.startswith("/")}, {p: t for p, t in own.items() if p[0] != "/"}
    )
