"""A large estate for benchmarks: 5,000 nodes and 100,000 pods as prepared bytes behind an HTTP server on loopback.

Every second node has eight GPUs, all of them requested, so that the pod `team-0/wants-one` cannot be placed. The pods
are those of 3,000 workloads. Objects have the size of real ones, `managedFields` included, and differ where real ones
do: names, addresses, moments, the volume of the service account's token. The server answers what kubectl's and our
lists ask for (pages in the order of names as etcd keeps them, field selectors by node and phase, discovery) and counts
the requests (`/asked`).
"""

import asyncio
import datetime as dt
import json
import re
import zlib
from collections.abc import Iterable
from typing import Any, Final

NODES, PODS, PAGE, GPUS, WORKLOADS = 5000, 100_000, 500, 8, 3000
GPU = "nvidia.com/gpu"
_KINDS: Final = {
    "/api/v1": [("pods", "Pod", True), ("nodes", "Node", False), ("events", "Event", True)],
    "/apis/apps/v1": [("daemonsets", "DaemonSet", True)],
}
_FIELDS: Final[dict[str, Any]] = {
    f"f:{key}": {".": {}, "f:value": {}, "f:valueFrom": {}} for key in map("key-{}".format, range(24))
}
_MANAGED: Final = [
    {"manager": name, "operation": "Update", "apiVersion": "v1", "time": "2026-01-01T00:00:00Z", "fieldsV1": _FIELDS}
    for name in ("kube-controller-manager", "kubelet")
]
_IMAGES: Final = [
    {"names": [f"registry.example/team/image-{i}@sha256:{i:064d}"], "sizeBytes": 123_456_789} for i in range(50)
]


def node(number: int) -> dict[str, Any]:
    """A node of about 18 KB; every second one has GPUs and is labelled as feature discovery labels it."""
    labels = {"kubernetes.io/hostname": f"node-{number}", "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    labels |= {f"feature.node.kubernetes.io/cpu-cpuid.FLAG{i}": "true" for i in range(60)}
    room = {"cpu": "96", "memory": "1Ti", "pods": "110", "ephemeral-storage": "1Ti"}
    if number % 2 == 0:
        labels |= {f"nvidia.com/gpu.deploy.{what}": "true" for what in ("driver", "device-plugin", "container-toolkit")}
        labels |= {"nvidia.com/gpu.present": "true", "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB"}
        labels |= {"nvidia.com/gpu.count": str(GPUS), "nvidia.com/gpu.memory": "81920"}
        labels |= {"feature.node.kubernetes.io/pci-10de.present": "true"}
        room |= {GPU: str(GPUS)}
    told = {"status": "False", "reason": "KubeletHas", "message": "kubelet has enough of it"}
    conditions = [{"type": kind, **told} for kind in ("MemoryPressure", "DiskPressure", "PIDPressure")]
    conditions.append({"type": "Ready", "status": "True", "reason": "KubeletReady"})
    info = {"containerRuntimeVersion": "containerd://2.1.0", "kubeletVersion": "v1.34.0", "osImage": "Debian 13"}
    return {
        "metadata": {"name": f"node-{number}", "uid": f"n{number}", "labels": labels, "managedFields": _MANAGED},
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"x://{number}"},
        "status": {
            "capacity": room,
            "allocatable": room,
            "conditions": conditions,
            "images": _IMAGES,
            "nodeInfo": info,
            "runtimeHandlers": [{"name": ""}, {"name": "nvidia"}],
        },
    }


def pod(name: str, namespace: str, on: str, *, gpus: int = 0, phase: str = "Running") -> dict[str, Any]:
    """A pod of about 5.8 KB: two containers, environment, volumes, statuses, managed fields.

    What stands before the last `-` of its name is its workload, whose pods are alike.
    """
    asked = {"cpu": "250m", "memory": "512Mi"} | ({GPU: str(gpus)} if gpus else {})
    workload, own = name.rsplit("-", 1)[0], zlib.crc32(name.encode())
    token = f"kube-api-access-{own:08x}"  # the admission plugin names each pod's volume by chance
    spec: dict[str, Any] = {"containers": [_container(workload, i, asked if i == 0 else {}, token) for i in range(2)]}
    spec |= {"serviceAccountName": "default", "volumes": [{"name": token, "projected": {"defaultMode": 420}}]}
    spec |= {"nodeName": on} if on else {}
    owner: dict[str, Any] = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "uid": f"u-{workload}", "controller": True}
    owner["name"] = workload
    began = (dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=own % 10_000_000)).isoformat()
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"u-{own:08x}", "creationTimestamp": began}
    metadata |= {"labels": {"app": workload}, "ownerReferences": [owner], "managedFields": _MANAGED}
    return {"metadata": metadata, "spec": spec, "status": _status(own, began, phase) if on else _WAITING}


def _status(own: int, began: str, phase: str) -> dict[str, Any]:
    address = f"10.{own >> 16 & 255}.{own >> 8 & 255}.{own & 255}"
    told = {"status": "True", "lastProbeTime": None, "lastTransitionTime": began}
    conditions = [{"type": kind, **told} for kind in ("Initialized", "Ready", "ContainersReady", "PodScheduled")]
    statuses = [
        {
            "name": f"c{i}",
            "ready": True,
            "started": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": began}},
            "containerID": f"containerd://{own + i:064x}",
            "imageID": f"sha256:{i:064d}",
        }
        for i in range(2)
    ]
    where = {"hostIP": address, "podIP": address, "podIPs": [{"ip": address}], "startTime": began}
    return {"phase": phase, **where, "conditions": conditions, "containerStatuses": statuses}


UNSCHEDULABLE: Final = (
    f"0/{NODES} nodes are available: {NODES} Insufficient {GPU}. preemption: 0/{NODES} nodes are available: "
    f"{NODES} No preemption victims found for incoming pod."
)


_WAITING: Final[dict[str, Any]] = {
    "phase": "Pending",
    "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": UNSCHEDULABLE},
    ],
}


def _container(workload: str, number: int, asked: dict[str, str], token: str) -> dict[str, Any]:
    environment = [{"name": f"SETTING_{i}", "value": f"https://{workload}-{i}.example:8443/path"} for i in range(7)]
    mounts = [{"name": f"volume-{i}", "mountPath": f"/var/lib/mount/{i}", "readOnly": True} for i in range(2)]
    mounts.append({"name": token, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": True})
    return {
        "name": f"c{number}",
        "image": f"registry.example/team/{workload}-{number}:v1.2.3",
        "args": ["--log-level=info", "--listen=:8080"],
        "resources": {"requests": asked, "limits": asked},
        "env": environment,
        "volumeMounts": mounts,
    }


class Estate:
    """The objects as bytes, indexed as the field selectors ask."""

    def __init__(self) -> None:
        self.asked = 0
        self._nodes = {name: _bytes(node(i)) for name, i in sorted((f"node-{i}", i) for i in range(NODES))}
        self._pods: dict[tuple[str, str], tuple[str, bytes]] = {}
        self._lists: dict[tuple[str | None, str], list[bytes]] = {}
        for number in range(PODS - 1):
            workload = f"w{number % WORKLOADS}"
            self._add(f"{workload}-{number}", f"team-{number % 60}", f"node-{number % NODES}", _gpus_of(number))
        self._add("wants-one", "team-0", "", 1)
        self._pods = dict(sorted(self._pods.items()))

    def _add(self, name: str, namespace: str, on: str, gpus: int) -> None:
        self._pods[(namespace, name)] = on, _bytes(pod(name, namespace, on, gpus=gpus))

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, bytes]:
        """The status and body for a GET."""
        if path == "/asked":
            return 200, str(self.asked).encode()
        if path in ("/api", "/apis") or path in _KINDS:
            return 200, _discovery(path)
        if found := re.fullmatch(r"/api/v1(?:/namespaces/([^/]+))?/pods(?:/([^/]+))?(/log)?", path):
            return self._pods_at(found, query)
        if found := re.fullmatch(r"/api/v1/nodes(?:/([^/]+))?", path):
            body = self._nodes.get(found[1]) if found[1] else None
            return (200, body) if body else self._page(list(self._nodes.values()), query, "NodeList")
        if "watch" in query or path.count("/") < 3:
            return 404, b"{}"
        return 200, b'{"metadata":{"resourceVersion":"1"},"items":[]}'

    def _pods_at(self, found: re.Match[str], query: dict[str, str]) -> tuple[int, bytes]:
        namespace, name, log = found.groups()
        if log:
            return 200, b""
        if name:
            held = self._pods.get((namespace, name))
            return (200, held[1]) if held else (404, b'{"kind":"Status","code":404,"reason":"NotFound"}')
        asked = namespace, query.get("fieldSelector", "")
        if asked not in self._lists:
            self._lists[asked] = [*self._chosen(*asked)]
        return self._page(self._lists[asked], query, "PodList")

    def _chosen(self, namespace: str | None, selector: str) -> Iterable[bytes]:
        wanted = dict(part.split("=", 1) for part in selector.split(",") if "!=" not in part and "=" in part)
        if wanted.get("status.phase") in ("Failed", "Succeeded"):
            return []
        on = wanted.get("spec.nodeName")
        return (
            body
            for (where, _), (node_name, body) in self._pods.items()
            if namespace in (None, where) and on in (None, node_name)
        )

    def _page(self, bodies: list[bytes], query: dict[str, str], kind: str) -> tuple[int, bytes]:
        first, limit = int(query.get("continue") or 0), int(query.get("limit") or len(bodies) or 1)
        more = str(first + limit) if first + limit < len(bodies) else ""
        head = f'{{"kind":"{kind}","apiVersion":"v1","metadata":{{"resourceVersion":"9","continue":"{more}"}},"items":['
        return 200, head.encode() + b",".join(bodies[first : first + limit]) + b"]}"


def _gpus_of(number: int) -> int:
    """Twenty pods a node: the first four of a GPU node hold two GPUs each."""
    return 2 if number % 2 == 0 and number // NODES < GPUS // 2 else 0


def _discovery(path: str) -> bytes:
    if path == "/api":
        return b'{"kind":"APIVersions","versions":["v1"]}'
    if path == "/apis":
        return b'{"kind":"APIGroupList","apiVersion":"v1","groups":[]}'
    verbs = ["get", "list"]
    rows = [{"name": n, "singularName": "", "namespaced": s, "kind": k, "verbs": verbs} for n, k, s in _KINDS[path]]
    return _bytes({"kind": "APIResourceList", "groupVersion": path.split("/")[-1], "resources": rows})


def _bytes(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def serve(port: Any) -> None:
    """Serve an estate on loopback until the process ends; sends its URL through the pipe `port`."""
    from tests.kube.fake_server import Answer, FakeServer, Request

    estate = Estate()

    def handle(request: Request) -> Answer:
        estate.asked += 1
        status, body = estate.answer(request.path, request.query)
        return Answer(body, status)

    async def run() -> None:
        server = await asyncio.start_server(FakeServer(handle).serve, "127.0.0.1", 0, limit=1 << 20)
        port.send(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await server.serve_forever()

    asyncio.run(run())
