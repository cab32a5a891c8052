"""The container toolkit looks for the runtime's socket where there is none.

K3s, RKE2, k0s and MicroK8s bring a containerd of their own with its own socket. A toolkit that was not told so looks
for `/run/containerd/containerd.sock`, and ends.

Why it matters: without the toolkit no operand behind it starts, and no pod gets a GPU on the node.
How to tell: its log says `containerd.sock: connect: no such file or directory`, while the kubelet, which reaches the
runtime, starts its container again and again.
Fix: tell the toolkit the socket, and with it the file: CONTAINERD_SOCKET and CONTAINERD_CONFIG in the ClusterPolicy's
`toolkit.env`. Where the node has another runtime, that is why: the operator sets the toolkit up for one runtime on all
nodes, for containerd as soon as any GPU node has it.
"""

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.runtime_socket import TOOLKIT, UNREACHED, looks_elsewhere
from lockgate.diagnosis.seen import condition_of, pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.words import Said, Words
from lockgate.kit.counted import counted
from lockgate.model import names
from lockgate.model.facts import Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Condition, ContainerStatus, Node, Pod

# How the kubelet calls the runtime that listens at a socket of this name.
_SCHEMES = {"containerd": "containerd", "crio": "cri-o", "cri-dockerd": "docker"}


@rule(
    codes=("E05",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.FAILED),
    asks_gpu=None,
    mutes=(*BROKEN_NODE, "containerd/handler-missing", "containerd/not-configured"),
)
def wrong_socket(pod: Pod, words: Words, operands: Operands, own_node: Node | Missing) -> Failed | None:
    said = words.find(UNREACHED) if operands.name_of(pod) == TOOLKIT else None
    status = looks_elsewhere(pod, said) if said else None
    ready = _ready(own_node)
    if said is None or status is None or (ready is not None and ready.status != "True"):
        return None
    seen = (
        said.evidence,
        Evidence(
            object=pod_ref(pod),
            field=f"status.containerStatuses[{status.name}].restartCount",
            value=str(status.restart_count),
        ),
        *_mounted(pod),
        *(() if ready is None else (condition_of(f"node/{pod.spec.node_name}", ready),)),
    )
    other = _other_runtime(own_node, said.match["runtime"])
    return _of_another(said, other, seen) if other else _elsewhere(pod, said, status, seen)


def _other_runtime(node: Node | Missing, wanted: str) -> Evidence | None:
    """The node's word that its kubelet uses another runtime than the one whose socket the toolkit looks for."""
    if isinstance(node, Missing) or node.status.node_info.runtime in ("", _SCHEMES[wanted]):
        return None
    version = node.status.node_info.container_runtime_version
    return Evidence(object=f"node/{node.name}", field="status.nodeInfo.containerRuntimeVersion", value=version)


def _of_another(said: Said, runs: Evidence, seen: tuple[Evidence, ...]) -> Failed:
    node, wanted = runs.object.partition("/")[2], said.match["runtime"]
    return Failed(
        about=runs.object,
        title="The container toolkit is set up for another runtime than the node's",
        summary=f"{node}: the toolkit looks for {wanted} at {said.match['socket']}, and the node runs {runs.value}.",
        nodes=(node,),
        evidence=(runs, *seen),
        remedy=(
            Remedy("See which node has which runtime", "kubectl get nodes -o wide", Risk.NONE),
            Remedy(
                "The operator sets the toolkit up for one runtime on all nodes: give the GPU nodes one, or keep the "
                f"toolkit off {node} and configure its runtime on the host",
                f"kubectl label node {node} --overwrite {names.DEPLOY_PREFIX}container-toolkit=false",
                Risk.MEDIUM,
            ),
        ),
    )


def _elsewhere(pod: Pod, said: Said, status: ContainerStatus, seen: tuple[Evidence, ...]) -> Failed:
    node, runtime, socket = pod.spec.node_name, said.match["runtime"], said.match["socket"]
    return Failed(
        about=f"node/{node}",
        summary=f"{node}: the toolkit finds no socket of {runtime} at {socket}, and the runtime answers the kubelet: "
        f"it has started the toolkit again {counted(status.restart_count, 'time')}. Its socket is elsewhere.",
        nodes=(node,),
        evidence=seen,
        remedy=(
            Remedy(
                f"See on {node} which socket the kubelet uses (K3s and RKE2: /run/k3s/containerd/containerd.sock; k0s: "
                "/run/k0s/containerd.sock; MicroK8s: /var/snap/microk8s/common/run/containerd.sock)",
                "ps ax | grep -o -e '--container-runtime-endpoint[= ][^ ]*'; sudo ls -l /run/*/*.sock /run/*/*/*.sock",
                Risk.NONE,
            ),
            Remedy(
                "Tell the toolkit the socket, and the file that belongs to it: CONTAINERD_SOCKET and CONTAINERD_CONFIG "
                "in spec.toolkit.env",
                "kubectl edit clusterpolicy",
                Risk.HIGH,
            ),
        ),
    )


def _ready(node: Node | Missing) -> Condition | None:
    conditions = () if isinstance(node, Missing) else node.status.conditions
    return next((c for c in conditions if c.type == "Ready"), None)


def _mounted(pod: Pod) -> tuple[Evidence, ...]:
    """The folder of the host in which the toolkit looks."""
    return tuple(
        Evidence(object=pod_ref(pod), field=f"spec.volumes[{volume.name}].hostPath.path", value=volume.host_path.path)
        for volume in pod.spec.volumes
        if volume.host_path and volume.name.endswith("-socket")
    )
