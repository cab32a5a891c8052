"""Generated clusters and pods: small sets of values, so that they meet often, and every field that the model reads.

Seeded: the same seed gives the same world. Names in `_` tables are the values that nodes and pods draw from.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]
GPU = "nvidia.com/gpu"
MIG = "nvidia.com/mig-1g.5gb"
NAMESPACES: dict[str, dict[str, str]] = {"team-a": {"team": "a"}, "team-b": {"team": "b", "tier": "gold"}}
PRIORITIES = {"low": -10, "medium": 10, "high": 1000}
RUNTIME_OVERHEAD = {"heavy": {"cpu": "1500m", "memory": "5Gi"}}

_ZONE = "topology.kubernetes.io/zone"
_HOST = "kubernetes.io/hostname"
_PRODUCT = "nvidia.com/gpu.product"
_ZONES = ("a", "b", "c")
_PRODUCTS = ("A100", "A100-SHARED", "T4")
_TAINTS = (
    ("nvidia.com/gpu", "present", "NoSchedule"),
    ("sku", "gpu", "NoSchedule"),
    ("sku", "", "NoExecute"),
    ("node.kubernetes.io/not-ready", "", "NoExecute"),
    ("node.kubernetes.io/unschedulable", "", "NoSchedule"),
    ("soft", "x", "PreferNoSchedule"),
)
_APPS = ("train", "infer", "web")
_POD_LABELS = ("app", "rank")


@dataclass(frozen=True, slots=True)
class World:
    """What is in a cluster before a pod is tried: bodies for the API, in order of creation."""

    nodes: tuple[Json, ...]
    pods: tuple[Json, ...]
    statuses: dict[str, Json]  # of pods, by name, written after creation
    terminating: frozenset[str]
    claims: tuple[Json, ...]
    volumes: tuple[Json, ...]
    budgets: tuple[Json, ...] = ()


class Maker:
    """Draws worlds and pods from one seed; in a share of the worlds priorities differ, so that some pods evict."""

    def __init__(self, seed: int, unequal: float = 0.25) -> None:
        self._random = random.Random(seed)
        self._share_unequal = unequal
        self._serial = 0
        self._roomy = False
        self._unequal = False

    def world(self) -> World:
        """A cluster of 3 to 12 nodes, most of them with pods.

        Half of the worlds are roomy: hardly a taint and much of everything, so that the last filters have their say.
        """
        self._roomy, self._unequal = self._chance(0.5), self._chance(self._share_unequal)
        nodes = tuple(self._node(index) for index in range(self._random.randint(3, 12)))
        claims, volumes = self._storage()
        pods, statuses, terminating = self._pods_there([node["metadata"]["name"] for node in nodes])
        return World(nodes, pods, statuses, terminating, claims, volumes, self._budgets())

    def pod(self) -> Json:
        """A pod to be scheduled."""
        spec = self._spec()
        spec |= self._maybe(0.35, lambda: {"tolerations": self._tolerations()})
        spec |= self._maybe(0.05 if self._roomy else 0.2, lambda: {"nodeSelector": self._labels_wanted()})
        spec |= self._maybe(0.3 if self._roomy else 0.1, lambda: {"topologySpreadConstraints": self._spread()})
        spec |= self._maybe(0.12, lambda: {"volumes": self._volumes()})
        urgent = ("high", "high", "medium") if self._unequal else tuple(PRIORITIES)
        spec |= self._maybe(0.8 if self._unequal else 0.06, lambda: {"priorityClassName": self._one(urgent)})
        affinity = self._affinity()
        return self._body("try", spec | ({"affinity": affinity} if affinity else {}))

    def nodes(self, count: int) -> list[Json]:
        """So many nodes, without pods."""
        return [self._node(index) for index in range(count)]

    # --- nodes

    def _node(self, index: int) -> Json:
        name = f"n{index}"
        spec: Json = {}
        if self._chance(0.05 if self._roomy else 0.3):
            spec["taints"] = self._taints()
        if self._chance(0.02 if self._roomy else 0.1):
            spec["unschedulable"] = True
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": self._node_labels(name)},
            "spec": spec,
            "status": {"capacity": (room := self._room()), "allocatable": room},
        }

    def _node_labels(self, name: str) -> dict[str, str]:
        labels = {_HOST: name} if self._chance(0.95) else {}
        if self._chance(0.9):
            labels[_ZONE] = self._one(_ZONES)
        if self._chance(0.7):
            labels[_PRODUCT] = self._one(_PRODUCTS)
            labels["nvidia.com/gpu.count"] = self._one(("1", "4", "8", "x", "003", "2.5"))
        return labels

    def _room(self) -> dict[str, str]:
        if self._roomy:
            return {"pods": "40", "cpu": "64", "memory": "256Gi", GPU: "16", MIG: "7", "ephemeral-storage": "1Ti"}
        room = {
            "pods": self._one(("2", "4", "8", "110")),
            "cpu": self._one(("1900m", "4", "7910m", "16")),
            "memory": self._one(("2Gi", "8000000k", "32Gi", "16777216123")),
        }
        if self._chance(0.6):
            room[GPU] = self._one(("0", "1", "2", "4", "8"))
        if self._chance(0.2):
            room[MIG] = self._one(("0", "7"))
        if self._chance(0.4):
            room["ephemeral-storage"] = self._one(("10Gi", "1500M"))
        if self._chance(0.2):
            room["hugepages-2Mi"] = self._one(("64Mi", "512Mi"))
        return room

    def _taints(self) -> list[Json]:
        chosen = {(key, effect): value for key, value, effect in self._some(_TAINTS, 1, 2)}
        return [
            {"key": key, "effect": effect} | ({"value": value} if value else {})
            for (key, effect), value in chosen.items()
        ]

    # --- pods that are there already

    def _pods_there(self, nodes: list[str]) -> tuple[tuple[Json, ...], dict[str, Json], frozenset[str]]:
        pods = [self._pod_there(self._one(nodes)) for _ in range(self._random.randint(0, 2 * len(nodes)))]
        _share_no_port(pods)
        statuses: dict[str, Json] = {}
        terminating: set[str] = set()
        for pod in pods:
            name = pod["metadata"]["name"]
            # Of pods of one priority the longer running is more important; no two start at one moment here.
            statuses[name] = {"startTime": f"2026-11-29T{len(statuses) // 60:02}:{len(statuses) % 60:02}:00Z"}
            if self._chance(0.25):
                statuses[name] |= self._status(pod)
            if self._chance(0.15) and statuses[name].get("phase") not in ("Succeeded", "Failed"):
                terminating.add(name)
        return tuple(pods), statuses, frozenset(terminating)

    def _pod_there(self, node: str) -> Json:
        spec = self._spec() | {"nodeName": node}
        spec |= self._maybe(0.8 if self._unequal else 0.1, lambda: {"priorityClassName": self._one(("low", "medium"))})
        if self._chance(0.15):
            spec["affinity"] = {"podAntiAffinity": self._required([self._affinity_term()])}
        return self._body("there", spec)

    def _status(self, pod: Json) -> Json:
        phase = self._one(("Succeeded", "Failed", "Running", "Running"))
        if phase != "Running":
            return {"phase": phase}
        running = {"phase": phase, "containerStatuses": [self._container_status(c) for c in pod["spec"]["containers"]]}
        if self._chance(0.3):
            reason = self._one(("Infeasible", "Deferred"))
            running["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}]
        return running

    def _container_status(self, container: Json) -> Json:
        status: Json = {"name": container["name"], "image": "x", "imageID": "x", "restartCount": 0, "ready": True}
        requests = container["resources"].get("requests", {})
        if self._chance(0.7):
            status["allocatedResources"] = requests | {"cpu": self._one(("100m", "3", "7"))}
        if self._chance(0.7):
            status["resources"] = {"requests": requests | {"cpu": self._one(("100m", "3", "7"))}}
        return status

    # --- what a pod asks

    def _body(self, prefix: str, spec: Json) -> Json:
        self._serial += 1
        labels = {"app": self._one(_APPS)} if self._chance(0.8) else {}
        if self._chance(0.3):
            labels["rank"] = self._one(("0", "1"))
        metadata = {"name": f"{prefix}-{self._serial}", "namespace": self._one(tuple(NAMESPACES)), "labels": labels}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

    def _spec(self) -> Json:
        spec: Json = {"containers": [self._container(f"c{i}") for i in range(self._random.choice((1, 1, 1, 2)))]}
        if self._chance(0.2):
            spec["initContainers"] = [self._init_container(f"i{i}") for i in range(self._random.randint(1, 3))]
        if self._chance(0.08):
            spec["runtimeClassName"] = "heavy"
        if self._chance(0.08):
            spec["resources"] = {"requests": {"cpu": self._one(("20", "24")), "memory": "64Gi"}}
            if self._chance(0.7):
                spec["resources"]["requests"] = {"cpu": "9"}
        return spec

    def _container(self, name: str) -> Json:
        container: Json = {"name": name, "image": "x", "resources": self._resources()}
        if self._chance(0.1):
            container["ports"] = [self._port()]
        return container

    def _init_container(self, name: str) -> Json:
        container = self._container(name)
        return container | ({"restartPolicy": "Always"} if self._chance(0.5) else {})

    def _resources(self) -> Json:
        requests: dict[str, str] = {}
        if self._chance(0.6):
            requests["cpu"] = self._one(("100m", "500m", "1", "1500m", "3", "1u", "0"))
        if self._chance(0.5):
            requests["memory"] = self._one(("64Mi", "1Gi", "2000M", "1500m", "6Gi"))
        if self._chance(0.1):
            requests["ephemeral-storage"] = self._one(("1Gi", "4Gi"))
        devices = self._devices()
        resources: Json = {"requests": requests | devices} if requests or devices else {}
        # The API server fills requests from limits: leave one of them to it now and then.
        return resources | ({"limits": devices} if devices else {})

    def _devices(self) -> dict[str, str]:
        devices = {}
        if self._chance(0.5):
            devices[GPU] = self._one(("0", "1", "1", "2", "4", "8"))
        if self._chance(0.08):
            devices[MIG] = self._one(("1", "3"))
        if self._chance(0.05):
            devices["hugepages-2Mi"] = self._one(("32Mi", "256Mi"))
        return devices

    def _port(self) -> Json:
        port: Json = {"containerPort": 80, "hostPort": self._one((8080, 8081))}
        if self._chance(0.4):
            port["hostIP"] = self._one(("10.0.0.1", "10.0.0.2", "0.0.0.0"))
        if self._chance(0.2):
            port["protocol"] = "UDP"
        return port

    # --- where a pod may go

    def _tolerations(self) -> list[Json]:
        return [self._toleration() for _ in range(self._random.randint(1, 3))]

    def _toleration(self) -> Json:
        key, value, effect = self._one(_TAINTS)
        if self._chance(0.1):
            return {"operator": "Exists"}
        toleration: Json = {"key": key}
        if self._chance(0.5):
            toleration["operator"] = "Exists"
        else:
            toleration["value"] = value if self._chance(0.8) else "other"
            if self._chance(0.5):
                toleration["operator"] = "Equal"
        return toleration | ({"effect": effect} if self._chance(0.5) else {})

    def _labels_wanted(self) -> dict[str, str]:
        return {key: self._one(values) for key, values in self._some(((_ZONE, _ZONES), (_PRODUCT, _PRODUCTS)), 1, 2)}

    def _affinity(self) -> Json:
        affinity: Json = {}
        if self._chance(0.1 if self._roomy else 0.25):
            terms = [self._node_term() for _ in range(self._random.randint(1, 2))]
            affinity["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
        if self._chance(0.3 if self._roomy else 0.1):
            affinity["podAffinity"] = self._required([self._affinity_term() for _ in range(self._random.randint(1, 2))])
        if self._chance(0.3 if self._roomy else 0.1):
            affinity["podAntiAffinity"] = self._required([self._affinity_term()])
        return affinity

    def _node_term(self) -> Json:
        term: Json = {}
        if self._chance(0.85):
            term["matchExpressions"] = [self._expression() for _ in range(self._random.randint(1, 2))]
        if self._chance(0.2):
            operator, name = self._one(("In", "In", "NotIn")), f"n{self._random.randint(0, 13)}"
            term["matchFields"] = [{"key": "metadata.name", "operator": operator, "values": [name]}]
        return term

    def _expression(self) -> Json:
        key, values = self._one(((_ZONE, _ZONES), (_PRODUCT, _PRODUCTS), ("nvidia.com/gpu.count", ("1", "4"))))
        operators = ("In", "In", "NotIn", "Exists", "DoesNotExist")
        operator = self._one(("Gt", "Lt", "In") if key == "nvidia.com/gpu.count" else operators)
        expression: Json = {"key": key, "operator": operator}
        if operator in ("In", "NotIn"):
            expression["values"] = self._some(values, 1, 2)
        if operator in ("Gt", "Lt"):
            expression["values"] = [self._one(("1", "3", "4", "8"))]
        return expression

    def _affinity_term(self) -> Json:
        term: Json = {"topologyKey": self._one((_ZONE, _HOST, "rack")), "labelSelector": self._label_selector()}
        if self._chance(0.2):
            term["namespaces"] = self._some(tuple(NAMESPACES), 1, 2)
        if self._chance(0.2):
            wanted = self._one(({}, {"tier": "gold"}, {"team": "a"}))
            term["namespaceSelector"] = {"matchLabels": wanted} if wanted else {}
        if self._chance(0.1):
            term["matchLabelKeys"] = ["rank"]
        return term

    def _label_selector(self) -> Json:
        if self._chance(0.7):
            return {"matchLabels": {"app": self._one(_APPS)}}
        operator = self._one(("In", "NotIn", "Exists", "DoesNotExist"))
        values = {"values": self._some(_APPS, 1, 2)} if operator in ("In", "NotIn") else {}
        return {"matchExpressions": [{"key": self._one(("app", "tier")), "operator": operator, **values}]}

    def _spread(self) -> list[Json]:
        keys = self._some((_ZONE, _HOST), 1, 2)
        return [self._constraint(key) for key in keys]

    def _constraint(self, key: str) -> Json:
        constraint: Json = {
            "maxSkew": self._random.randint(1, 2),
            "topologyKey": key,
            "whenUnsatisfiable": self._one(("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway")),
            "labelSelector": self._label_selector(),
        }
        if constraint["whenUnsatisfiable"] == "DoNotSchedule" and self._chance(0.2):
            constraint["minDomains"] = self._random.randint(1, 4)
        if self._chance(0.2):
            constraint["nodeAffinityPolicy"] = self._one(("Honor", "Ignore"))
        if self._chance(0.3):
            constraint["nodeTaintsPolicy"] = self._one(("Honor", "Ignore"))
        if self._chance(0.15):
            constraint["matchLabelKeys"] = ["rank"]
        return constraint

    # --- volumes

    def _volumes(self) -> list[Json]:
        claim = self._one(("zonal", "local", "unbound", "none", "free"))
        return [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]

    def _storage(self) -> tuple[tuple[Json, ...], tuple[Json, ...]]:
        zone, node = self._one(_ZONES), f"n{self._random.randint(0, 5)}"
        affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [_in(_HOST, node)]}]}}
        volumes = (_volume("zonal", {_ZONE: zone}, None), _volume("local", {}, affinity), _volume("free", {}, None))
        bound = ("zonal", "local", "free")
        claims = tuple(_claim(ns, name, name in bound) for ns in NAMESPACES for name in (*bound, "unbound"))
        return claims, volumes

    def _budgets(self) -> tuple[Json, ...]:
        """At most one budget for a pod: of several it depends on their order in a cache which are overdrawn."""
        guarded = [(namespace, app) for namespace in NAMESPACES for app in _APPS if self._chance(0.4)]
        return tuple(_budget(namespace, app, self._random.randint(0, 2)) for namespace, app in guarded)

    # --- drawing

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def _one(self, values: Sequence[Any]) -> Any:
        return self._random.choice(values)

    def _some(self, values: Sequence[Any], least: int, most: int) -> list[Any]:
        return self._random.sample(list(values), self._random.randint(least, min(most, len(values))))

    def _maybe(self, probability: float, make: Any) -> Json:
        made: Json = make()
        return made if self._chance(probability) else {}

    def _required(self, terms: list[Json]) -> Json:
        return {"requiredDuringSchedulingIgnoredDuringExecution": terms}


def _share_no_port(pods: list[Json]) -> None:
    """Take a host port away from a pod whose node has it already.

    kube-scheduler 1.37 keeps the ports of a node as a set: of two pods that hold one port (only `nodeName` brings that
    about) the first to finish frees it for both. Seen with seed 104; the model goes by the pods that are there.
    """
    held: set[tuple[str, str, str, int]] = set()
    for pod in pods:
        for container in (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"]):
            ports = [(_port_key(pod, port), port) for port in container.get("ports", ())]
            container["ports"] = [port for key, port in ports if key not in held]
            held |= {key for key, _ in ports}


def _port_key(pod: Json, port: Json) -> tuple[str, str, str, int]:
    address = port.get("hostIP", "0.0.0.0")
    return pod["spec"]["nodeName"], address, port.get("protocol", "TCP"), port["hostPort"]


def _in(key: str, value: str) -> Json:
    return {"key": key, "operator": "In", "values": [value]}


def _volume(name: str, labels: dict[str, str], affinity: Json | None) -> Json:
    spec: Json = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteMany"],
        "hostPath": {"path": "/data"},
        "storageClassName": "none",
    }
    if affinity:
        spec["nodeAffinity"] = affinity
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name, "labels": labels}, "spec": spec}


def _budget(namespace: str, app: str, allowed: int) -> Json:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": app, "namespace": namespace},
        "spec": {"selector": {"matchLabels": {"app": app}}, "maxUnavailable": 1},
        "status": {"disruptionsAllowed": allowed, "currentHealthy": 3, "desiredHealthy": 3, "expectedPods": 3},
    }


def _claim(namespace: str, name: str, bound: bool) -> Json:
    spec: Json = {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "none",
    }
    annotations = {"pv.kubernetes.io/bind-completed": "yes"} if bound else {}
    if bound:
        spec["volumeName"] = name
    metadata = {"name": name, "namespace": namespace, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
