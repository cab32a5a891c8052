"""The device plugin's settings, under NVIDIA's flags, variables and configuration keys.

Source: k8s-device-plugin 0.20. Known and without effect here: MPS_ROOT, NVIDIA_CDI_HOOK_PATH (there are no hooks),
GDS_ENABLED, MOFED_ENABLED, GDRCOPY_ENABLED, IMEX_CHANNEL_IDS, DEVICE_DISCOVERY_STRATEGY (always NVML). Ours:
CDI_ROOT, SYS_ROOT, for a node that keeps these folders elsewhere; DP_LOOK_INTERVAL, DP_XID_QUIET_PERIOD, durations.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from lockgate.agents.device_plugin.health import Policy, parse_policy
from lockgate.agents.options import Option, one_of, parse_bool, parse_duration
from lockgate.agents.plugin_config import read_both
from lockgate.agents.sharing import Sharing, parse_sharing
from lockgate.model.names import PLUGIN_SOCKETS

STRATEGIES: Final = ("envvar", "volume-mounts", "cdi-annotations", "cdi-cri")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the plugin was told. Roots ending in `_ctr` are paths in this container, the others on the host.

    `kubelet_socket` None: serve, but never register. Empty roots were not given. `look`: seconds between two looks at
    the GPUs; `quiet`: seconds without another XID after which a GPU that needs no reset is handed out again.
    """

    mig_strategy: str = "none"
    fail_on_init_error: bool = True
    driver_root: str = "/"
    dev_root: str = ""
    driver_root_ctr: Path = Path("/driver-root")
    dev_root_ctr: str = ""
    cdi_root: Path = Path("/var/run/cdi")
    sys_root: Path = Path("/sys")
    list_strategies: tuple[str, ...] = ("envvar",)
    id_strategy: str = "uuid"
    look: float = 5.0
    quiet: float = 60.0
    pass_device_specs: bool = False
    kubelet_socket: Path | None = Path(PLUGIN_SOCKETS, "kubelet.sock")
    cdi_annotation_prefix: str = "cdi.k8s.io/"
    allocation_policy: str = "distributed"
    config_file: Path | None = None
    sharing: Sharing = Sharing()
    policy: Policy = Policy()
    warnings: tuple[str, ...] = ()

    @property
    def uses_cdi(self) -> bool:
        """Whether a CDI specification must be there for a container to get its device."""
        return any(strategy.startswith("cdi-") for strategy in self.list_strategies)


def _parse_strategies(value: object) -> tuple[str, ...]:
    """A comma list; in the configuration file a list, or one word."""
    words = [str(word) for word in value] if isinstance(value, list) else str(value).split(",")
    chosen = tuple(dict.fromkeys(word.strip() for word in words if word.strip()))
    for word in chosen:
        if word not in STRATEGIES:
            raise ValueError(f"invalid strategy: {word} (expected some of {', '.join(STRATEGIES)})")
    if not chosen:
        raise ValueError(f"no strategy (expected some of {', '.join(STRATEGIES)})")
    return chosen


def _parse_socket(value: object) -> Path | None:
    return Path(str(value)) if value else None


_CONFIG_FILE: Final = Option(
    name="config_file",
    help="configuration file, YAML or JSON, read again when its content changes",
    flags=("config-file",),
    env=("CONFIG_FILE",),
    parse=_parse_socket,
)
_DEFAULT: Final = Settings()
OPTIONS: Final = (
    _CONFIG_FILE,
    Option(
        name="mig_strategy",
        help="how MIG devices are advertised: none, single or mixed",
        flags=("mig-strategy",),
        env=("MIG_STRATEGY",),
        path=("flags", "migStrategy"),
        default=_DEFAULT.mig_strategy,
        parse=one_of("none", "single", "mixed"),
    ),
    Option(
        name="fail_on_init_error",
        help="end with exit status 1 when the driver does not answer at the start; false: wait for it",
        flags=("fail-on-init-error",),
        env=("FAIL_ON_INIT_ERROR",),
        path=("flags", "failOnInitError"),
        default=_DEFAULT.fail_on_init_error,
        parse=parse_bool,
    ),
    Option(
        name="driver_root",
        help="driver root on the host, for paths in answers and CDI specifications",
        flags=("driver-root", "nvidia-driver-root"),
        env=("NVIDIA_DRIVER_ROOT",),
        path=("flags", "nvidiaDriverRoot"),
        default=_DEFAULT.driver_root,
    ),
    Option(
        name="dev_root",
        help="root on the host that holds dev/nvidia*; unset: the driver root when it has device nodes, else /",
        flags=("dev-root", "nvidia-dev-root"),
        env=("NVIDIA_DEV_ROOT",),
        path=("flags", "nvidiaDevRoot"),
        default=_DEFAULT.dev_root,
    ),
    Option(
        name="driver_root_ctr",
        help="where this container sees the driver root",
        flags=("driver-root-ctr-path", "container-driver-root"),
        env=("DRIVER_ROOT_CTR_PATH", "CONTAINER_DRIVER_ROOT"),
        path=("flags", "plugin", "containerDriverRoot"),
        default=_DEFAULT.driver_root_ctr,
        parse=Path,
    ),
    Option(
        name="dev_root_ctr",
        help="where this container sees the dev root; unset: /host when it is mounted, else /",
        env=("DEV_ROOT_CTR_PATH",),
        default=_DEFAULT.dev_root_ctr,
    ),
    Option(
        name="look",
        help="time between two looks at the GPUs; a fifth of it while something is wrong",
        env=("DP_LOOK_INTERVAL",),
        default=_DEFAULT.look,
        parse=parse_duration,
    ),
    Option(
        name="quiet",
        help="time without another XID after which a GPU that needs no reset is handed out again",
        env=("DP_XID_QUIET_PERIOD",),
        default=_DEFAULT.quiet,
        parse=parse_duration,
    ),
    Option(
        name="cdi_root", help="folder of CDI specifications", env=("CDI_ROOT",), default=_DEFAULT.cdi_root, parse=Path
    ),
    Option(
        name="sys_root", help="where sysfs is, for NUMA nodes", env=("SYS_ROOT",), default=_DEFAULT.sys_root, parse=Path
    ),
    Option(
        name="list_strategies",
        help="how devices reach containers, a comma list of envvar, volume-mounts, cdi-annotations, cdi-cri",
        flags=("device-list-strategy",),
        env=("DEVICE_LIST_STRATEGY",),
        path=("flags", "plugin", "deviceListStrategy"),
        default=_DEFAULT.list_strategies,
        parse=_parse_strategies,
    ),
    Option(
        name="id_strategy",
        help="what NVIDIA_VISIBLE_DEVICES holds: uuid or index; CDI names are always UUIDs",
        flags=("device-id-strategy",),
        env=("DEVICE_ID_STRATEGY",),
        path=("flags", "plugin", "deviceIDStrategy"),
        default=_DEFAULT.id_strategy,
        parse=one_of("uuid", "index"),
    ),
    Option(
        name="pass_device_specs",
        help="hand device nodes to the kubelet as well",
        flags=("pass-device-specs",),
        env=("PASS_DEVICE_SPECS",),
        path=("flags", "plugin", "passDeviceSpecs"),
        default=_DEFAULT.pass_device_specs,
        parse=parse_bool,
    ),
    Option(
        name="kubelet_socket",
        help="the kubelet's registration socket; empty: serve without registering",
        flags=("kubelet-socket",),
        env=("KUBELET_SOCKET",),
        default=_DEFAULT.kubelet_socket,
        parse=_parse_socket,
        empty_counts=True,
    ),
    Option(
        name="cdi_annotation_prefix",
        help="prefix of the annotation under cdi-annotations",
        flags=("cdi-annotation-prefix",),
        env=("CDI_ANNOTATION_PREFIX",),
        path=("flags", "plugin", "cdiAnnotationPrefix"),
        default=_DEFAULT.cdi_annotation_prefix,
    ),
    Option(
        name="allocation_policy",
        help="order in which shared devices are given: distributed or packed",
        flags=("shared-devices-allocation-policy",),
        env=("SHARED_DEVICES_ALLOCATION_POLICY",),
        path=("flags", "plugin", "sharedDevicesAllocationPolicy"),
        default=_DEFAULT.allocation_policy,
        parse=one_of("distributed", "packed"),
    ),
    Option(
        name="disabled_checks",
        help="XIDs that do not count, a comma list; xids: none counts; all: nor is a lost GPU noticed",
        env=("DP_DISABLE_HEALTHCHECKS",),
        default="",
    ),
    Option(
        name="enabled_checks",
        help="XIDs that count in any case, a comma list; all: every XID counts",
        env=("DP_ENABLE_HEALTHCHECKS",),
        default="",
    ),
    # Accepted, without effect:
    Option(
        name="hook_path",
        help="accepted, without effect: there are no hooks",
        flags=("nvidia-cdi-hook-path", "nvidia-ctk-path"),
    ),
    Option(name="mps_root", help="accepted, without effect: MPS is not served", flags=("mps-root",)),
    Option(name="discovery", help="accepted, without effect: always NVML", flags=("device-discovery-strategy",)),
    Option(name="gds", help="accepted, without effect", flags=("gds-enabled",), parse=parse_bool),
    Option(name="mofed", help="accepted, without effect", flags=("mofed-enabled",), parse=parse_bool),
    Option(name="gdrcopy", help="accepted, without effect", flags=("gdrcopy-enabled",), parse=parse_bool),
)
_WITHOUT_EFFECT: Final = ("GDS_ENABLED", "MOFED_ENABLED", "GDRCOPY_ENABLED", "IMEX_CHANNEL_IDS", "IMEX_REQUIRED")


def read_settings(argv: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """The settings of this process; reads the configuration file. Raises SettingsError."""
    values, file, warnings = read_both(OPTIONS, argv, environ)
    sharing = parse_sharing(file)
    policy, policy_warnings = parse_policy(values["disabled_checks"], values["enabled_checks"])
    known = {name: value for name, value in values.items() if name in Settings.__struct_fields__}
    return Settings(
        **known,
        sharing=sharing,
        policy=msgspec.structs.replace(policy, quiet=values["quiet"]),
        warnings=(*warnings, *sharing.warnings, *policy_warnings, *_without_effect(environ, file)),
    )


def _without_effect(environ: Mapping[str, str], file: Mapping[str, Any]) -> list[str]:
    asked = [f"{name}={environ[name]}" for name in _WITHOUT_EFFECT if environ.get(name, "") not in ("", "false", "[]")]
    if file.get("resources"):
        asked.append("resources: custom resource names")
    return [f"{what}: not supported by this device plugin, and ignored" for what in asked]
