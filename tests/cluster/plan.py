"""From what was asked (Spec) to what each namespace holds and runs: pure, so it reads and is tested as a table."""

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.cluster import addresses, pki, stock
from tests.cluster.programs import Programs
from tests.cluster.spec import ControlPlan, Device, Node, NodePlan, Program

REPOSITORY = Path(__file__).parents[2]
DRIVER_ROOT = "/run/nvidia/driver"
SIMULATOR_SOCKET = f"{DRIVER_ROOT}/run/nvidia-persistenced/socket"
# A kubelet sets these on the whole machine (cm/container_manager_linux.go); a node gets files of its own over them.
KERNEL_SETTINGS = {
    "vm/overcommit_memory": "1\n",
    "vm/panic_on_oom": "0\n",
    "kernel/panic": "10\n",
    "kernel/panic_on_oops": "1\n",
    "kernel/keys/root_maxkeys": "1000000\n",
    "kernel/keys/root_maxbytes": "25000000\n",
}


@dataclass(frozen=True, slots=True)
class Identities:
    """Who is who in the cluster: the authority and a certificate for each program."""

    authority: pki.Authority
    token_key: str
    server: pki.Pair
    server_to_kubelet: pki.Pair

    def kubeconfig(self, server: str, user: str, groups: Iterable[str] = ()) -> str:
        """A kubeconfig for a user of these groups at that address of the API server."""
        return pki.kubeconfig(server, self.authority, self.authority.issue(user, groups))


@dataclass(frozen=True, slots=True)
class SimulatedGpus:
    """What the lab made for a node with GPUs: folders on the machine, device nodes, the simulator's command."""

    driver_root: Path
    pci_devices: Path
    devices: tuple[Device, ...]
    simulator: tuple[str, ...]


def make_identities() -> Identities:
    """New keys and certificates for one cluster."""
    authority = pki.make_authority("lockgate test cluster")
    hosts = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost", "127.0.0.1")
    return Identities(
        authority=authority,
        token_key=pki.make_token_key(),
        server=authority.issue("kube-apiserver", (), (*hosts, addresses.CONTROL, addresses.API_SERVICE)),
        server_to_kubelet=authority.issue("kube-apiserver-kubelet-client", ("system:masters",)),
    )


def control_files(identities: Identities) -> dict[str, str]:
    """What the control plane's programs read, by file name in its folder."""
    local = f"https://{addresses.CONTROL}:{addresses.API_PORT}"
    return {
        "ca.crt": identities.authority.pem,
        "ca.key": pki.key_pem(identities.authority.key),
        "token.key": identities.token_key,
        "server.crt": identities.server.certificate,
        "server.key": identities.server.key,
        "kubelet-client.crt": identities.server_to_kubelet.certificate,
        "kubelet-client.key": identities.server_to_kubelet.key,
        "controller-manager.conf": identities.kubeconfig(local, "system:kube-controller-manager"),
        "scheduler.conf": identities.kubeconfig(local, "system:kube-scheduler"),
    }


def control_plan(folder: Path, nodes: int, programs: Programs) -> ControlPlan:
    """The control plane: etcd and the three Kubernetes programs, listening on its own network only."""
    etcd = "http://127.0.0.1:2379"
    api_server = {
        "advertise-address": addresses.CONTROL,
        "bind-address": addresses.CONTROL,
        "secure-port": addresses.API_PORT,
        "etcd-servers": etcd,
        "authorization-mode": "Node,RBAC",
        "enable-admission-plugins": "NodeRestriction",
        "allow-privileged": "true",
        "anonymous-auth": "false",
        "client-ca-file": folder / "ca.crt",
        "tls-cert-file": folder / "server.crt",
        "tls-private-key-file": folder / "server.key",
        "kubelet-certificate-authority": folder / "ca.crt",
        "kubelet-client-certificate": folder / "kubelet-client.crt",
        "kubelet-client-key": folder / "kubelet-client.key",
        "kubelet-preferred-address-types": "InternalIP",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": folder / "token.key",
        "service-account-signing-key-file": folder / "token.key",
        "service-cluster-ip-range": addresses.SERVICE_NETWORK,
        # There is no kube-proxy beside the API server: it must find webhooks and API services by their endpoints.
        "enable-aggregator-routing": "true",
        "max-mutating-requests-inflight": 400,
    }
    controller_manager = {
        "kubeconfig": folder / "controller-manager.conf",
        "authentication-kubeconfig": folder / "controller-manager.conf",
        "authorization-kubeconfig": folder / "controller-manager.conf",
        "use-service-account-credentials": "true",
        "service-account-private-key-file": folder / "token.key",
        "root-ca-file": folder / "ca.crt",
        "cluster-signing-cert-file": folder / "ca.crt",
        "cluster-signing-key-file": folder / "ca.key",
        "bind-address": "127.0.0.1",
        "leader-elect": "false",
        # With the default of 20 a second the start of all controllers takes five seconds.
        "kube-api-qps": 500,
        "kube-api-burst": 1000,
    }
    scheduler = {
        "kubeconfig": folder / "scheduler.conf",
        "authentication-kubeconfig": folder / "scheduler.conf",
        "authorization-kubeconfig": folder / "scheduler.conf",
        "bind-address": "127.0.0.1",
        "leader-elect": "false",
    }
    etcd_flags = {
        "data-dir": folder / "etcd",
        "listen-client-urls": etcd,
        "advertise-client-urls": etcd,
        "listen-peer-urls": "http://127.0.0.1:2380",
        "unsafe-no-fsync": "true",  # the data is thrown away with the cluster
        "log-level": "warn",
    }
    return ControlPlan(
        hostname="control",
        folder=str(folder),
        network=addresses.control_network(nodes),
        programs=(
            _program("etcd", programs, etcd_flags),
            _program("kube-apiserver", programs, api_server),
            _program("kube-controller-manager", programs, controller_manager, autostart=False),
            _program("kube-scheduler", programs, scheduler, autostart=False),
        ),
    )


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


def python_environment() -> dict[str, str]:
    """What a Python program of this repository needs in its environment to be found from anywhere."""
    return {"PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'src'}", "PYTHONDONTWRITEBYTECODE": "1"}


def python_module(name: str) -> tuple[str, ...]:
    """The command that runs a module of this repository with this Python."""
    return (sys.executable, "-m", name)


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


def _program(name: str, programs: Programs, flags: dict[str, object], autostart: bool = True) -> Program:
    return Program(name=name, argv=(str(programs.path(name)), *_flags(flags)), autostart=autostart)


def _at(path: str, flags: dict[str, object], waits_for: tuple[str, ...] = ()) -> Program:
    """A node's program that needs the API server: it starts when the keeper has seen that one ready."""
    name = path.rpartition("/")[2]
    return Program(name=name, argv=(path, *_flags(flags)), autostart=False, waits_for=waits_for)


def _flags(flags: dict[str, object]) -> tuple[str, ...]:
    return tuple(f"--{name}={value}" for name, value in flags.items())
