"""The pods that `smoke` and `collect --probe` make, as manifests: each on one node, and of no use to anything else."""

from typing import Any, Final

import msgspec

from lockgate.apply.short_lived import LABEL
from lockgate.model import names

# A pod that nobody removed (the program was killed) ends by itself after this many seconds.
_DEADLINE: Final = 300
HOST: Final = "/host"


class Image(msgspec.Struct, frozen=True):
    """What a pod runs: an image, and the secrets of its namespace that pull it."""

    name: str
    pull_secrets: tuple[dict[str, Any], ...] = ()


class Place(msgspec.Struct, frozen=True):
    """Where a pod is made, under which name, and for which node."""

    namespace: str
    name: str
    node: str


def smoke_pod(place: Place, image: Image, resource: str) -> dict[str, Any]:
    """Asks for one GPU of its node and lists it, as any ordinary pod would get it: both gates, no special rights."""
    container = {
        "command": ["nvidia-smi", "-L"],
        # NVIDIA's handlers inject nvidia-smi only to containers that want utilities; CDI always does.
        "env": [{"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "compute,utility"}],
        "resources": {"limits": {resource: "1"}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    return _pod(place, image, "smoke", container, {})


def probe_pod(place: Place, image: Image) -> dict[str, Any]:
    """Reads files of its node, mounted read-only with all that is mounted below where the runtime can do that."""
    container = {
        "command": ["python3", "-m", "lockgate.collect.probe", HOST],
        "securityContext": {
            "runAsUser": 0,
            "allowPrivilegeEscalation": False,
            # To run the node's own `containerd --version` inside its root, and to read the kernel's log.
            "capabilities": {"drop": ["ALL"], "add": ["SYS_CHROOT", "SYSLOG"]},
        },
        "volumeMounts": [
            {"name": "host", "mountPath": HOST, "readOnly": True, "recursiveReadOnly": "IfPossible"},
        ],
    }
    return _pod(place, image, "probe", container, {"volumes": [{"name": "host", "hostPath": {"path": "/"}}]})


def _pod(place: Place, image: Image, what: str, container: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    field = {"key": "metadata.name", "operator": "In", "values": [place.node]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": place.name, "namespace": place.namespace, "labels": {LABEL: what}},
        "spec": {
            "restartPolicy": "Never",
            "activeDeadlineSeconds": _DEADLINE,
            "terminationGracePeriodSeconds": 0,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "tolerations": [{"operator": "Exists"}],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}},
            "imagePullSecrets": list(image.pull_secrets),
            "containers": [{"name": what, "image": image.name, "imagePullPolicy": "IfNotPresent", **container}],
            **spec,
        },
    }


def resource_of(allocatable: dict[str, int]) -> str:
    """The GPU resource of a node to ask for: one that it offers, the plain one where it can be chosen."""
    offered = sorted(name for name, count in allocatable.items() if names.is_gpu_resource(name) and count)
    return names.GPU if names.GPU in offered or not offered else offered[0]
