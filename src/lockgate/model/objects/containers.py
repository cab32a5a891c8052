"""The containers of a pod, as they are wanted and as they are."""

import msgspec

from lockgate.model.objects.meta import Moment, Object


class ResourceRequirements(Object, frozen=True):
    requests: dict[str, str | int | float] = {}
    limits: dict[str, str | int | float] = {}


class EnvVar(Object, frozen=True):
    name: str = ""
    value: str = ""


class SecurityContext(Object, frozen=True):
    privileged: bool | None = None


class ContainerPort(Object, frozen=True):
    container_port: int = 0
    host_port: int = 0
    host_ip: str = msgspec.field(default="", name="hostIP")
    protocol: str = ""


class Container(Object, frozen=True):
    name: str = ""
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    resources: ResourceRequirements = ResourceRequirements()
    restart_policy: str = ""
    ports: tuple[ContainerPort, ...] = ()
    security_context: SecurityContext | None = None


class StateWaiting(Object, frozen=True):
    reason: str = ""
    message: str = ""


class StateRunning(Object, frozen=True):
    started_at: Moment | None = None


class StateTerminated(Object, frozen=True):
    reason: str = ""
    message: str = ""
    exit_code: int = 0
    signal: int = 0
    started_at: Moment | None = None
    finished_at: Moment | None = None


class ContainerState(Object, frozen=True):
    waiting: StateWaiting | None = None
    running: StateRunning | None = None
    terminated: StateTerminated | None = None


class ContainerStatus(Object, frozen=True):
    name: str = ""
    ready: bool = False
    restart_count: int = 0
    image: str = ""
    state: ContainerState = ContainerState()
    last_state: ContainerState = ContainerState()
    allocated_resources: dict[str, str | int | float] | None = None
    resources: ResourceRequirements | None = None
