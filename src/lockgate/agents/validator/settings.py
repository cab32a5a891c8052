"""The validator's settings, under NVIDIA's flags and variables (gpu-operator 26.7, `nvidia-validator`).

Known and without effect: KUBECONFIG is read by the API client; METRICS_PORT, DEFAULT_GPU_WORKLOAD_CONFIG, MIG_STRATEGY.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from lockgate.agents.options import Option, SettingsError, one_of, parse_bool, read_options
from lockgate.model.names import DRIVER_ROOT, VALIDATIONS

COMPONENTS: Final = ("driver", "toolkit", "cuda", "plugin")


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the validator was told. `host` and `driver_root_ctr` are paths in this container."""

    component: str
    node: str = ""
    namespace: str = ""
    wait: bool = False
    output: Path = Path(VALIDATIONS)
    pause: float | None = None  # seconds between two tries; None: 5, for the plugin 1 at first
    clean_all: bool = False
    host: Path = Path("/host")
    driver_root: str = DRIVER_ROOT
    driver_root_ctr: Path = Path(DRIVER_ROOT)
    skip_dev_char: bool = False
    dev_char: Path = Path("/host-dev-char")
    plugin_attempts: int = 30


def _option(name: str, flag: str, env: str, default: Any, parse: Callable[[Any], Any] = str) -> Option:
    return Option(name=name, flags=(flag,), env=(env,), default=default, parse=parse)


OPTIONS: Final = (
    _option("component", "component", "COMPONENT", None, one_of(*COMPONENTS)),
    _option("node", "node-name", "NODE_NAME", ""),
    _option("namespace", "namespace", "OPERATOR_NAMESPACE", ""),
    _option("wait", "with-wait", "WITH_WAIT", False, parse_bool),
    _option("output", "output-dir", "OUTPUT_DIR", Path(VALIDATIONS), Path),
    _option("pause", "sleep-interval-seconds", "SLEEP_INTERVAL_SECONDS", None, float),
    _option("clean_all", "cleanup-all", "CLEANUP_ALL", False, parse_bool),
    _option("driver_root", "driver-install-dir", "DRIVER_INSTALL_DIR", DRIVER_ROOT),
    _option("driver_root_ctr", "driver-install-dir-ctr-path", "DRIVER_INSTALL_DIR_CTR_PATH", None, Path),
    _option(
        "skip_dev_char",
        "disable-dev-char-symlink-creation",
        "DISABLE_DEV_CHAR_SYMLINK_CREATION",
        False,
        parse_bool,
    ),
)


def read_settings(argv: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """Settings from the command line, then the environment. Raises SettingsError."""
    values = read_options(OPTIONS, argv, environ, {})
    if values["component"] is None:
        raise SettingsError(f"COMPONENT is not set, expected one of {', '.join(COMPONENTS)}")
    if values["driver_root_ctr"] is None:
        values["driver_root_ctr"] = Path(values["driver_root"])
    return Settings(**values)
