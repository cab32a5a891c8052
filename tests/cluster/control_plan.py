"""What the control plane's namespace runs: etcd and three Kubernetes programs. Pure, so it reads as a table."""

from collections.abc import Mapping
from pathlib import Path

from tests.cluster import addresses, pki
from tests.cluster.identities import FRONT_PROXY, Identities
from tests.cluster.programs import Programs
from tests.cluster.spec import ControlPlan, Program, flags


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
        "front-proxy.crt": identities.front_proxy.certificate,
        "front-proxy.key": identities.front_proxy.key,
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
        "proxy-client-cert-file": folder / "front-proxy.crt",
        "proxy-client-key-file": folder / "front-proxy.key",
        "requestheader-client-ca-file": folder / "ca.crt",
        "requestheader-allowed-names": FRONT_PROXY,
        "requestheader-username-headers": "X-Remote-User",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
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


def _program(name: str, programs: Programs, given: Mapping[str, object], autostart: bool = True) -> Program:
    return Program(name=name, argv=(str(programs.path(name)), *flags(given)), autostart=autostart)
