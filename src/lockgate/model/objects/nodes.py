"""Nodes: what each one has, and what its kubelet says of it."""

import msgspec

from lockgate.model.objects.meta import Condition, Object, Resource


class Taint(Object, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(Object, frozen=True):
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = msgspec.field(default="", name="providerID")


class NodeInfo(Object, frozen=True):
    kubelet_version: str = ""
    container_runtime_version: str = ""
    kernel_version: str = ""
    os_image: str = ""
    architecture: str = ""

    @property
    def runtime(self) -> str:
        """The container runtime that the kubelet uses: `containerd`, `cri-o`, `docker`; "" where it does not say."""
        name, mark, _ = self.container_runtime_version.partition("://")
        return name if mark else ""


class RuntimeHandler(Object, frozen=True):
    name: str = ""


class NodeStatus(Object, frozen=True):
    capacity: dict[str, str] = {}
    allocatable: dict[str, str] = {}
    conditions: tuple[Condition, ...] = ()
    node_info: NodeInfo = NodeInfo()
    runtime_handlers: tuple[RuntimeHandler, ...] | None = None


class Node(Resource, frozen=True):
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()
