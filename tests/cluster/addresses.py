"""Which address stands where in a cluster's own network, which no other cluster and nothing of the machine shares."""

from collections.abc import Iterable

CONTROL = "10.99.0.1"
NODE_NETWORK = "10.99.0.0/24"
POD_NETWORK = "10.244.0.0/16"
SERVICE_NETWORK = "10.96.0.0/16"
API_SERVICE = "10.96.0.1"
DNS_SERVICE = "10.96.0.10"  # nothing answers there: the cluster has no DNS, but a kubelet without one complains
API_PORT = 6443


def node_address(index: int) -> str:
    """The address of the node with that place in the cluster's list."""
    return f"10.99.0.{11 + index}"


def pod_subnet(index: int) -> str:
    """The addresses that the node's pods get."""
    return f"10.244.{index}.0/24"


def control_network(nodes: int) -> tuple[str, ...]:
    """`ip -batch` lines for the control plane: a bridge that the nodes' cables end in, and routes to their pods."""
    return (
        "link set lo up",
        "link add br0 type bridge",
        f"addr add {CONTROL}/24 dev br0",
        "link set br0 up",
        *_pod_routes(range(nodes)),
    )


def node_network(index: int, nodes: int) -> tuple[str, ...]:
    """`ip -batch` lines for a node whose end of the cable is `eth0`."""
    return (
        "link set lo up",
        f"addr add {node_address(index)}/24 dev eth0",
        "link set eth0 up",
        f"route add default via {CONTROL}",
        *_pod_routes(other for other in range(nodes) if other != index),
    )


def _pod_routes(nodes: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"route add {pod_subnet(node)} via {node_address(node)}" for node in nodes)
