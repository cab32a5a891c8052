"""What a node's namespace holds and runs, from what was asked. Pure, so it reads as a table."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.cluster import addresses, stock
from tests.cluster.identities import Identities
from tests.cluster.programs import Programs
from tests.cluster.repository import python_environment
from tests.cluster.spec import Device, Node, NodePlan, Program, flags

DRIVER_ROOT = "/run/nvidia/driver"
SIMULATOR_SOCKET = f"{DRIVER_ROOT}/run/nvidia-persistenced/socket"


@dataclass(frozen=True, slots=True)
class SimulatedGpus:
    """What the lab made for a node with GPUs: folders on the machine, device nodes, the simulator's command."""

    driver_root: Path
    pci_devices: Path
    devices: tuple[Device, ...]
    simulator: tuple[str, ...]


def node_plan(
    node: Node,
    index: int,
    count: int,
    *,
    cluster: str,
    folder: Path,
    programs: Programs,
    identities: Identities,
    gpus: SimulatedGpus | None,
    visible: tuple[Path, ...],
) -> NodePlan:
    """A node: containerd, kubelet and kube-proxy at their usual paths, and its simulated GPUs if it has some."""
    address = addresses.node_address(index)
    kubelet = {
        "config": "/var/lib/kubelet/config.yaml",
        "kubeconfig": "/etc/kubernetes/kubelet.conf",
        "node-ip": address,
        "v": 2,
    }
    if node.labels:
        kubelet["node-labels"] = ",".join(f"{key}={value}" for key, value in sorted(node.labels.items()))
    kube_proxy = {
        "kubeconfig": "/etc/kubernetes/kube-proxy.conf",
        "hostname-override": node.name,
        "proxy-mode": "nftables",
        "bind-address": address,
        "metrics-bind-address": "127.0.0.1:10249",
        "healthz-bind-address": "127.0.0.1:10256",
        # Zero leaves the machine's connection tracking as it is.
        "conntrack-max-per-core": 0,
        "conntrack-min": 0,
        "conntrack-tcp-timeout-established": "0s",
        "conntrack-tcp-timeout-close-wait": "0s",
    }
    binds = {f"/var/lib/{name}": str(folder / "state" / name) for name in ("kubelet", "containerd", "cni")}
    binds["/var/log/pods"] = str(folder / "state/pods")
    node_programs = [
        Program(name="containerd", argv=("/usr/bin/containerd",)),
        _at("/usr/bin/kubelet", kubelet, waits_for=(stock.CONTAINERD_SOCKET,)),
        _at("/usr/bin/kube-proxy", kube_proxy),
    ]
    if gpus:
        binds["/sys/bus/pci/devices"] = str(gpus.pci_devices)
        node_programs.insert(0, Program(name="simulator", argv=gpus.simulator, env=python_environment()))
    return NodePlan(
        hostname=node.name,
        folder=str(folder),
        visible=tuple(str(path) for path in visible),
        links=containerd_links(node.containerd, programs)
        | {f"/usr/bin/{name}": str(programs.path(name)) for name in ("kubelet", "kube-proxy", "kubectl")},
        files=_node_files(node, index, cluster, identities),
        binds=binds,
        trees={DRIVER_ROOT: str(gpus.driver_root)} if gpus else {},
        devices=gpus.devices if gpus else (),
        network=addresses.node_network(index, count),
        programs=tuple(node_programs),
    )


def containerd_links(release: str, programs: Programs) -> dict[str, str]:
    """Where a node's containerd programs lead for that release; changing the links changes the release."""
    folder = programs.containerd(release)
    return {f"/usr/bin/{name}": str(folder / name) for name in ("containerd", "containerd-shim-runc-v2", "ctr")}


def _node_files(node: Node, index: int, cluster: str, identities: Identities) -> dict[str, str]:
    server = f"https://{addresses.CONTROL}:{addresses.API_PORT}"
    serving = identities.authority.issue(f"system:node:{node.name}", (), (node.name, addresses.node_address(index)))
    return {
        "/etc/hostname": f"{node.name}\n",
        "/etc/hosts": f"127.0.0.1 localhost\n{addresses.node_address(index)} {node.name}\n",
        "/etc/resolv.conf": f"nameserver {addresses.DNS_SERVICE}\n",
        "/etc/containerd/config.toml": stock.CONTAINERD_CONFIG[node.containerd],
        "/etc/cni/net.d/10-pods.conflist": stock.cni_config(addresses.pod_subnet(index)),
        "/etc/kubernetes/ca.crt": identities.authority.pem,
        "/etc/kubernetes/kubelet.crt": serving.certificate,
        "/etc/kubernetes/kubelet.key": serving.key,
        "/etc/kubernetes/kubelet.conf": identities.kubeconfig(server, f"system:node:{node.name}", ("system:nodes",)),
        "/etc/kubernetes/kube-proxy.conf": identities.kubeconfig(server, "system:kube-proxy"),
        "/var/lib/kubelet/config.yaml": stock.kubelet_config(f"/{cluster}/{node.name}", node.taints, node.kubelet),
    }


def _at(path: str, given: Mapping[str, object], waits_for: tuple[str, ...] = ()) -> Program:
    """A node's program that needs the API server: it starts when the keeper has seen that one ready."""
    name = path.rpartition("/")[2]
    return Program(name=name, argv=(path, *flags(given)), autostart=False, waits_for=waits_for)
