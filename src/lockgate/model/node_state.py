"""GPUNodeState: what a node's agents publish of both gates, one small object a node, written only on change.

Group `lockgate.dev/v1alpha1`, plural `gpunodestates`, cluster-scoped, named like the node. Each agent owns one section
and applies it with its own field manager (`lockgate-<agent>`), so that a section that nobody published is absent: not
known, never "fine".
There are no timestamps of observation inside: they would turn every look into a write. Moments of the node itself (a
process started, a file was written) are RFC 3339 in UTC, to the second.
"""

import datetime as dt

from lockgate.model.objects import Metadata, Object, Resource

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
    modified: str = ""
    text: str = ""
    truncated: bool = False


class RuntimeState(Object, frozen=True):
    """Gate 2, the runtime's half (toolkit agent). `handlers` are what the process answers, not what the files say.

    `drift` names what has become of the toolkit's work where `phase` is Drifted: HandlerNotLoaded (pods that need it
    fail now), HandlersLostAtRestart, ConfigRefusedAtRestart, OtherSettingsLoaded or DropInOutdated.
    """

    name: str = ""  # containerd | crio | docker
    release: str = ""  # 2.4.2
    socket: str = ""
    started: str = ""  # since when the process runs; "" where it cannot be seen
    config_path: str = ""
    handlers: tuple[Handler, ...] = ()
    default_handler: str = ""
    cdi_enabled: bool | None = None
    cdi_spec_dirs: tuple[str, ...] = ()
    files: tuple[ConfigFile, ...] = ()
    phase: str = ""  # Configured | Drifted | Refused | RolledBack | Unreachable
    drift: str = ""
    message: str = ""
    pod: str = ""  # which of the toolkit's pods says so; an older one may have been killed before it could withdraw it


class CDISpec(Object, frozen=True):
    """One CDI specification file and the device names that it defines; `error` when it cannot be used.

    `text` is the whole file, or left out (`truncated`) where it is longer than 32 KiB or the node's files together
    than 96 KiB: half a specification would be an invalid one.
    """

    path: str = ""
    kind: str = ""
    devices: tuple[str, ...] = ()
    error: str = ""
    sha256: str = ""
    text: str = ""
    truncated: bool = False


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


class SeenXid(Object, frozen=True):
    """An XID that the driver reported; `uuid` is empty where it did not say of which GPU."""

    code: int = 0
    uuid: str = ""


class DevicesState(Object, frozen=True):
    """Gate 1 at its source (device plugin): what was handed to the kubelet, and how it reaches containers.

    `strategies` are envvar, volume-mounts, cdi-annotations, cdi-cri; `cdi_kind` is the kind of the CDI names that
    Allocate answers with (`<kind>=<uuid>`), "" where it answers with none. `xids` are the last ones, newest last, each
    code of each GPU once: a storm of them writes no more than the first.
    """

    devices: tuple[Device, ...] = ()
    resources: dict[str, int] = {}
    replicas: int = 1
    registered: bool = False
    strategies: tuple[str, ...] = ()
    cdi_kind: str = ""
    message: str = ""
    xids: tuple[SeenXid, ...] = ()


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


class ManagedFields(Object, frozen=True):
    """Who wrote a part of an object, and when last."""

    manager: str = ""
    time: dt.datetime | None = None


class StateMetadata(Metadata, frozen=True):
    """The API server's own record tells since when a section has stood there; a dump may lack it."""

    managed_fields: tuple[ManagedFields, ...] = ()


class GPUNodeState(Resource, frozen=True):
    metadata: StateMetadata = StateMetadata()
    status: NodeStateStatus = NodeStateStatus()


class RuntimeStanding(Object, frozen=True):
    """What a controller needs of `RuntimeState`, without the texts of files."""

    release: str = ""
    phase: str = ""
    drift: str = ""
    message: str = ""
    pod: str = ""
    default_handler: str = ""
    cdi_enabled: bool | None = None


class DevicesStanding(Object, frozen=True):
    """What a controller needs of `DevicesState`."""

    strategies: tuple[str, ...] = ()
    cdi_kind: str = ""


class StandingStatus(Object, frozen=True):
    runtime: RuntimeStanding | None = None
    devices: DevicesStanding | None = None
    validation: ValidationState | None = None


class NodeStanding(Resource, frozen=True):
    """A GPUNodeState as a controller reads it: the objects of 5,000 nodes with their texts would be 500 MB."""

    status: StandingStatus = StandingStatus()
