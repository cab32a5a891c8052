"""GPUNodeState: what a node's agents publish of both gates, one small object a node, written only on change.

Group `lockgate.dev/v1alpha1`, plural `gpunodestates`, cluster-scoped, named like the node. Each agent owns one section
and applies it with its own field manager (`lockgate-<agent>`), so that a section that nobody published is absent: not
known, never "fine".
There are no timestamps of observation inside: they would turn every look into a write.
"""

from lockgate.model.objects import Object, Resource

KIND = "GPUNodeState"


class Handler(Object, frozen=True):
    """A runtime handler as containerd has loaded it."""

    name: str = ""
    runtime_type: str = ""
    binary_name: str = ""
    systemd_cgroup: bool | None = None


class ConfigFile(Object, frozen=True):
    """A configuration file on the node; `text` is cut at 16 KiB (`truncated`), credentials in it are masked."""

    path: str = ""
    sha256: str = ""
    text: str = ""
    truncated: bool = False


class RuntimeState(Object, frozen=True):
    """Gate 2, the runtime's half (toolkit agent). `loaded` is what the process answers, not what the files say."""

    name: str = ""  # containerd | crio | docker
    release: str = ""  # 2.4.2
    socket: str = ""
    config_path: str = ""
    handlers: tuple[Handler, ...] = ()
    default_handler: str = ""
    cdi_enabled: bool | None = None
    cdi_spec_dirs: tuple[str, ...] = ()
    files: tuple[ConfigFile, ...] = ()
    phase: str = ""  # Configured | Drifted | Refused | RolledBack | Unreachable
    message: str = ""
    pod: str = ""  # which of the toolkit's pods says so; an older one may have been killed before it could withdraw it


class CDISpec(Object, frozen=True):
    """One CDI specification file and the device names that it defines; `error` when it cannot be used."""

    path: str = ""
    kind: str = ""
    devices: tuple[str, ...] = ()
    error: str = ""


class CDIState(Object, frozen=True):
    """Gate 2, the injection's half (toolkit agent)."""

    specs: tuple[CDISpec, ...] = ()


class Device(Object, frozen=True):
    """A physical GPU or MIG device as the device plugin sees it; `reason` says why it is not healthy."""

    uuid: str = ""
    index: str = ""  # "0", or "0:1" for a MIG device
    product: str = ""
    memory_mib: int = 0
    resource: str = ""
    healthy: bool = True
    reason: str = ""


class DevicesState(Object, frozen=True):
    """Gate 1 at its source (device plugin): what was handed to the kubelet."""

    devices: tuple[Device, ...] = ()
    resources: dict[str, int] = {}
    replicas: int = 1
    registered: bool = False
    message: str = ""


class DriverState(Object, frozen=True):
    """The driver as the validator met it."""

    version: str = ""
    cuda_version: str = ""
    root: str = ""
    host_driver: bool | None = None
    error: str = ""


class Validation(Object, frozen=True):
    """One step of the validator: driver, toolkit, cuda or plugin."""

    name: str = ""
    ready: bool = False
    message: str = ""


class ValidationState(Object, frozen=True):
    steps: tuple[Validation, ...] = ()


class NodeStateStatus(Object, frozen=True):
    runtime: RuntimeState | None = None
    cdi: CDIState | None = None
    devices: DevicesState | None = None
    driver: DriverState | None = None
    validation: ValidationState | None = None


class GPUNodeState(Resource, frozen=True):
    status: NodeStateStatus = NodeStateStatus()
