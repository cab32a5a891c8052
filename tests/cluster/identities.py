"""Who is who in a cluster: its authority, and the certificates that the programs show each other."""

from collections.abc import Iterable
from dataclasses import dataclass

from tests.cluster import addresses, pki

FRONT_PROXY = "front-proxy-client"


@dataclass(frozen=True, slots=True)
class Identities:
    """Who is who in the cluster: the authority and a certificate for each program."""

    authority: pki.Authority
    token_key: str
    server: pki.Pair
    server_to_kubelet: pki.Pair
    front_proxy: pki.Pair  # the API server's, to API services behind it

    def kubeconfig(self, server: str, user: str, groups: Iterable[str] = ()) -> str:
        """A kubeconfig for a user of these groups at that address of the API server."""
        return pki.kubeconfig(server, self.authority, self.authority.issue(user, groups))


def make_identities() -> Identities:
    """New keys and certificates for one cluster."""
    authority = pki.make_authority("lockgate test cluster")
    hosts = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost", "127.0.0.1")
    return Identities(
        authority=authority,
        token_key=pki.make_token_key(),
        server=authority.issue("kube-apiserver", (), (*hosts, addresses.CONTROL, addresses.API_SERVICE)),
        front_proxy=authority.issue(FRONT_PROXY),
        server_to_kubelet=authority.issue("kube-apiserver-kubelet-client", ("system:masters",)),
    )
