"""Host ports: two pods on a node cannot bind the same one.

Source: kube-scheduler 1.37 plugins/nodeports and framework HostPortInfo: `0.0.0.0` conflicts with every address.
"""

from collections.abc import Iterable, Iterator

from lockgate.model.objects import ContainerPort, Pod
from lockgate.scheduling.refusal import Check, Refusal
from lockgate.scheduling.scene import NodeView

_ANY = "0.0.0.0"
Bound = tuple[str, str, int]


def host_ports(pod: Pod) -> frozenset[Bound]:
    """Address, protocol and port of every host port that the pod holds while it runs; init containers hold none."""
    return frozenset(_bound(port) for port in _running_ports(pod) if port.host_port > 0)


def conflicts(wanted: Iterable[Bound], held: Iterable[Bound]) -> bool:
    """Whether any wanted port is held, on the same address or where either side means all addresses."""
    held = tuple(held)
    return any(_same(one, other) for one in wanted for other in held)


def check(pod: Pod) -> Check | None:
    """The filter for one pod; None when it wants no host port."""
    wanted = host_ports(pod)
    if not wanted:
        return None
    refusal = Refusal(
        plugin="NodePorts", reasons=("node(s) didn't have free ports for the requested pod ports",), resolvable=True
    )

    def on(view: NodeView) -> Refusal | None:
        return refusal if any(conflicts(wanted, host_ports(other)) for other in view.pods) else None

    return on


def _running_ports(pod: Pod) -> Iterator[ContainerPort]:
    for container in pod.spec.init_containers:
        if container.restart_policy == "Always":
            yield from container.ports
    for container in pod.spec.containers:
        yield from container.ports


def _bound(port: ContainerPort) -> Bound:
    return port.host_ip or _ANY, port.protocol or "TCP", port.host_port


def _same(one: Bound, other: Bound) -> bool:
    return one[1:] == other[1:] and (one[0] == other[0] or _ANY in (one[0], other[0]))
