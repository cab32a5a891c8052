"""Feature discovery's settings, under NVIDIA's flags, variables and configuration keys (k8s-device-plugin 0.20)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from lockgate.agents.options import Option, one_of, parse_bool, parse_duration
from lockgate.agents.plugin_config import read_both
from lockgate.agents.sharing import Sharing, parse_sharing

OUTPUT: Final = Path("/etc/kubernetes/node-feature-discovery/features.d/gfd")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What feature discovery was told. `sleep` in seconds, None for ever; `output` None: standard output."""

    mig_strategy: str = "none"
    fail_on_init_error: bool = True
    oneshot: bool = False
    no_timestamp: bool = False
    sleep: float | None = 60.0
    output: Path | None = OUTPUT
    machine_type_file: Path = Path("/sys/class/dmi/id/product_name")
    config_file: Path | None = None
    use_node_feature_api: bool = True
    driver_root_ctr: Path = Path("/driver-root")
    namespace: str = "default"
    node_name: str = ""
    sharing: Sharing = Sharing()
    warnings: tuple[str, ...] = ()


def parse_interval(value: object) -> float | None:
    """Seconds between two looks, or None for `infinite`."""
    return None if str(value).strip() == "infinite" else parse_duration(value)


def _parse_path(value: object) -> Path | None:
    return Path(str(value)) if value else None


_DEFAULT: Final = Settings()
OPTIONS: Final = (
    Option(
        name="config_file",
        help="configuration file, YAML or JSON",
        flags=("config-file",),
        env=("GFD_CONFIG_FILE", "CONFIG_FILE"),
        parse=_parse_path,
    ),
    Option(
        name="mig_strategy",
        help="how MIG devices are described: none, single or mixed",
        flags=("mig-strategy",),
        env=("GFD_MIG_STRATEGY", "MIG_STRATEGY"),
        path=("flags", "migStrategy"),
        default=_DEFAULT.mig_strategy,
        parse=one_of("none", "single", "mixed"),
    ),
    Option(
        name="fail_on_init_error",
        help="end with exit status 1 when the driver does not answer at the start; false: wait for it",
        flags=("fail-on-init-error",),
        env=("GFD_FAIL_ON_INIT_ERROR", "FAIL_ON_INIT_ERROR"),
        path=("flags", "failOnInitError"),
        default=_DEFAULT.fail_on_init_error,
        parse=parse_bool,
    ),
    Option(
        name="oneshot",
        help="label once and end",
        flags=("oneshot",),
        env=("GFD_ONESHOT",),
        path=("flags", "gfd", "oneshot"),
        default=_DEFAULT.oneshot,
        parse=parse_bool,
    ),
    Option(
        name="no_timestamp",
        help="leave out the label gfd.timestamp",
        flags=("no-timestamp",),
        env=("GFD_NO_TIMESTAMP",),
        path=("flags", "gfd", "noTimestamp"),
        default=_DEFAULT.no_timestamp,
        parse=parse_bool,
    ),
    Option(
        name="sleep",
        help="time between two looks, or infinite",
        flags=("sleep-interval",),
        env=("GFD_SLEEP_INTERVAL",),
        path=("flags", "gfd", "sleepInterval"),
        default=_DEFAULT.sleep,
        parse=parse_interval,
    ),
    Option(
        name="output",
        help="NFD's feature file, written where its folder exists; empty: standard output",
        flags=("output-file", "output"),
        env=("GFD_OUTPUT_FILE",),
        path=("flags", "gfd", "outputFile"),
        default=_DEFAULT.output,
        parse=_parse_path,
        empty_counts=True,
    ),
    Option(
        name="machine_type_file",
        help="file with the machine's product name",
        flags=("machine-type-file",),
        env=("GFD_MACHINE_TYPE_FILE",),
        path=("flags", "gfd", "machineTypeFile"),
        default=_DEFAULT.machine_type_file,
        parse=Path,
    ),
    Option(
        name="use_node_feature_api",
        help="label by a NodeFeature object where the cluster serves NFD's API; else the Node itself is labelled",
        flags=("use-node-feature-api",),
        env=("GFD_USE_NODE_FEATURE_API", "USE_NODE_FEATURE_API"),
        path=("flags", "useNodeFeatureAPI"),
        default=_DEFAULT.use_node_feature_api,
        parse=parse_bool,
    ),
    Option(
        name="driver_root_ctr",
        help="where this container sees the driver root",
        flags=("driver-root-ctr-path",),
        env=("DRIVER_ROOT_CTR_PATH",),
        path=("flags", "plugin", "containerDriverRoot"),
        default=_DEFAULT.driver_root_ctr,
        parse=Path,
    ),
    Option(
        name="namespace",
        help="namespace of the NodeFeature object",
        flags=("namespace",),
        env=("NAMESPACE",),
        default=_DEFAULT.namespace,
    ),
    Option(
        name="node_name",
        help="the node to label; empty: only the file is written",
        flags=("node-name",),
        env=("NODE_NAME",),
        default=_DEFAULT.node_name,
    ),
    # Accepted, without effect:
    Option(name="discovery", help="accepted, without effect: always NVML", flags=("device-discovery-strategy",)),
    Option(name="pod_name", help="accepted, without effect", flags=("pod-name",)),
)


def read_settings(argv: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """The settings of this process; reads the configuration file. Raises SettingsError."""
    values, file, warnings = read_both(OPTIONS, argv, environ)
    known = {name: value for name, value in values.items() if name in Settings.__struct_fields__}
    sharing = parse_sharing(file)
    return Settings(**known, sharing=sharing, warnings=(*warnings, *sharing.warnings))
