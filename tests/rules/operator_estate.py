"""A whole operator in a word: its DaemonSets, its pods on each node, its labels, policy and RuntimeClass.

    operator: {nodes: [gpu-a, gpu-b], without: [driver], stuck: {gpu-a: container-toolkit}}

All of it is well, but for the operands that wait for a stuck one: those hang in the init container that waits for it.
What the stuck operand itself shows is given under `pods`, like anything else that differs; names are
`gpu-operator/<DaemonSet>-<node>`. Order and init containers are those of NVIDIA's operator 26.x (assets/).
"""

from typing import Any, NamedTuple

NAMESPACE = "gpu-operator"
_GPU = "nvidia.com/gpu"


class Operand(NamedTuple):
    """An operand: its DaemonSet, its init containers in their order, and its container."""

    daemon_set: str
    init: tuple[str, ...]
    container: str


OPERANDS: dict[str, Operand] = {
    "driver": Operand("nvidia-driver-daemonset", ("k8s-driver-manager",), "nvidia-driver-ctr"),
    "container-toolkit": Operand(
        "nvidia-container-toolkit-daemonset", ("driver-validation",), "nvidia-container-toolkit-ctr"
    ),
    "operator-validator": Operand(
        "nvidia-operator-validator",
        ("driver-validation", "toolkit-validation", "cuda-validation", "plugin-validation"),
        "nvidia-operator-validator",
    ),
    "device-plugin": Operand("nvidia-device-plugin-daemonset", ("toolkit-validation",), "nvidia-device-plugin"),
    "gpu-feature-discovery": Operand("gpu-feature-discovery", ("toolkit-validation",), "gpu-feature-discovery"),
    "dcgm-exporter": Operand("nvidia-dcgm-exporter", ("toolkit-validation",), "nvidia-dcgm-exporter"),
    "mig-manager": Operand("nvidia-mig-manager", ("toolkit-validation",), "nvidia-mig-manager"),
}
# What runs before the runtime has its handler.
_BEFORE_HANDLER = ("driver", "container-toolkit")
# Which init containers never end while an operand is stuck.
_WAITING_FOR = {
    "driver": ("driver-validation", "toolkit-validation"),
    "container-toolkit": ("toolkit-validation",),
    "device-plugin": ("plugin-validation",),
}


def with_operator(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts with the operator that they ask for; what they say of its objects themselves is merged over it."""
    asked = facts["operator"]
    nodes, stuck = asked["nodes"], asked.get("stuck", {})
    wanted = {short: o for short, o in OPERANDS.items() if short not in asked.get("without", ())}
    classes = {"nvidia": {"handler": "nvidia"}} if "container-toolkit" in wanted else {}
    named = "nvidia" if classes else None  # without the toolkit nobody makes the handler, and operands do without
    own = {
        "nodes": {node: {"metadata": {"labels": _labels(wanted)}} for node in nodes},
        "daemon_sets": {
            f"{NAMESPACE}/{o.daemon_set}": _daemon_set(s, o, nodes, stuck, named) for s, o in wanted.items()
        },
        "pods": {
            f"{NAMESPACE}/{o.daemon_set}-{node}": _pod(o, short, node, stuck.get(node, ""), named)
            for node in nodes
            for short, o in wanted.items()
        },
        "runtime_classes": classes,
        "cluster_policies": {"cluster-policy": {"status": {"state": "notReady" if stuck else "ready"}}},
        "namespaces": {NAMESPACE: {"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "privileged"}}}},
    }
    return dict(_over(own, _given(facts)))


def _given(facts: dict[str, Any]) -> dict[str, Any]:
    """What the case says itself; an object that is only named is there as it is."""
    sections = {k: v for k, v in facts.items() if k != "operator"}
    return {k: {name: o or {} for name, o in v.items()} if isinstance(v, dict) else v for k, v in sections.items()}


def _labels(wanted: dict[str, Operand]) -> dict[str, str]:
    return {f"nvidia.com/gpu.deploy.{short}": "true" for short in wanted}


def _daemon_set(
    short: str, operand: Operand, nodes: list[str], stuck: dict[str, str], runtime_class: str | None
) -> dict[str, Any]:
    waiting = sum(1 for node in nodes if short == stuck.get(node) or _hangs(operand, stuck.get(node, "")))
    count, ready = len(nodes), len(nodes) - waiting
    return {
        "metadata": {"labels": {"app": operand.daemon_set}},
        "spec": {
            "template": {
                "spec": {
                    "nodeSelector": {f"nvidia.com/gpu.deploy.{short}": "true"},
                    "tolerations": [{"key": _GPU, "operator": "Exists", "effect": "NoSchedule"}],
                    "runtimeClassName": None if short in _BEFORE_HANDLER else runtime_class,
                    "initContainers": [{"name": name} for name in operand.init],
                    "containers": [{"name": operand.container}],
                }
            }
        },
        "status": {
            "desiredNumberScheduled": count,
            "currentNumberScheduled": count,
            "updatedNumberScheduled": count,
            "numberReady": ready,
            "numberAvailable": ready,
            "numberUnavailable": count - ready,
        },
    }


def _hangs(operand: Operand, stuck: str) -> str:
    """The init container of an operand that never ends while another one is stuck; "" where none hangs."""
    return next((name for name in operand.init if name in _WAITING_FOR.get(stuck, ())), "")


def _pod(operand: Operand, short: str, node: str, stuck: str, runtime_class: str | None) -> dict[str, Any]:
    hangs = "" if short == stuck else _hangs(operand, stuck)
    return {
        "like": "plugin",
        "metadata": {
            "labels": {"app": operand.daemon_set},
            "ownerReferences": [{"kind": "DaemonSet", "name": operand.daemon_set, "controller": True}],
        },
        "spec": {
            "nodeName": node,
            "runtimeClassName": None if short in _BEFORE_HANDLER else runtime_class,
            "initContainers": [{"name": name} for name in operand.init],
            "containers": [{"name": operand.container}],
        },
        "status": _hanging(operand, hangs) if hangs else _well(operand),
    }


def _well(operand: Operand) -> dict[str, Any]:
    done = {"terminated": {"reason": "Completed", "exitCode": 0}}
    return {
        "phase": "Running",
        "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}],
        "initContainerStatuses": [{"name": name, "ready": True, "state": done} for name in operand.init],
        "containerStatuses": [{"name": operand.container, "ready": True, "state": {"running": {}}}],
    }


def _hanging(operand: Operand, at: str) -> dict[str, Any]:
    done = {"terminated": {"reason": "Completed", "exitCode": 0}}
    waiting = {"waiting": {"reason": "PodInitializing"}}
    place = operand.init.index(at)
    states = [done if i < place else {"running": {}} if i == place else waiting for i in range(len(operand.init))]
    return {
        "phase": "Pending",
        "conditions": [
            {"type": "PodScheduled", "status": "True"},
            {
                "type": "Initialized",
                "status": "False",
                "reason": "ContainersNotInitialized",
                "message": f"containers with incomplete status: [{' '.join(operand.init[place:])}]",
            },
            {"type": "Ready", "status": "False", "reason": "ContainersNotReady"},
        ],
        "initContainerStatuses": [
            {"name": name, "ready": state is done, "state": state}
            for name, state in zip(operand.init, states, strict=True)
        ],
        "containerStatuses": [{"name": operand.container, "state": waiting}],
    }


def _over(ordinary: Any, own: Any) -> Any:
    """Merged maps; a key that only one side has is kept, and null survives so that it can take a key away later."""
    if not (isinstance(ordinary, dict) and isinstance(own, dict)):
        return own
    keys = dict.fromkeys((*ordinary, *own))
    return {k: _over(ordinary[k], own[k]) if k in own and k in ordinary else own.get(k, ordinary.get(k)) for k in keys}
