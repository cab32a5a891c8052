"""The toolkit's settings, under the flags and variables of NVIDIA's `nvidia-ctk-installer` 1.20.

Known and without effect here, since no program is installed and nothing wraps runc: the install sources, everything of
`nvidia-container-runtime` and `nvidia-container-cli`, hooks (CRIO_CONFIG_MODE=hook), device node creation, NRI.
`RUNTIME_CONFIG_SOURCE` too: the files are read, and what counts is what the running runtime has loaded. Ours:
TOOLKIT_DONE_FILE, a file that is there once the first change of the node has ended, well or not.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from lockgate.agents.options import Option, SettingsError, one_of, parse_bool, read_options
from lockgate.apply.service import MODES
from lockgate.cdi.build import NAMINGS, USUAL_NAMINGS
from lockgate.containerd import HANDLERS, Wanted
from lockgate.host.distributions import CRIO_SOCKET, DOCKER_SOCKET, STOCK


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """What NVIDIA's toolkit takes for granted of a container runtime; paths on the host."""

    config: str
    drop_in: str = ""  # docker reads none
    socket: str
    restart_mode: str
    modes: tuple[str, ...] = MODES
    unit: str


KINDS: Final = {
    "containerd": Kind(
        config=STOCK.config,
        drop_in=f"{STOCK.drop_ins[0]}/99-nvidia.toml",
        socket=STOCK.socket,
        restart_mode="signal",
        unit="containerd.service",
    ),
    "docker": Kind(
        config="/etc/docker/daemon.json", socket=DOCKER_SOCKET, restart_mode="signal", unit="docker.service"
    ),
    "crio": Kind(
        config="/etc/crio/crio.conf",
        drop_in="/etc/crio/crio.conf.d/99-nvidia.toml",
        socket=CRIO_SOCKET,
        restart_mode="systemd",
        modes=("systemd", "none"),
        unit="crio.service",
    ),
}


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the toolkit was told. `*_ctr` and plain Paths are paths in this container, text paths are the host's."""

    runtime: str = "containerd"
    config: Path = Path("/etc/containerd/config.toml")
    config_host: str = ""
    drop_in: Path = Path("/etc/containerd/conf.d/99-nvidia.toml")
    drop_in_host: str = ""
    socket: Path = Path("/run/containerd/containerd.sock")
    socket_host: str = ""
    restart_mode: str = "signal"
    host_root: Path = Path("/host")
    driver_root: str = "/run/nvidia/driver"
    driver_root_ctr: Path = Path("/run/nvidia/driver")
    dev_root: str = ""
    dev_root_ctr: str = ""
    runtime_name: str = HANDLERS[0]
    set_as_default: bool = False
    cdi_enabled: bool = False
    cdi_output_dir: str = "/var/run/cdi"
    device_names: tuple[str, ...] = USUAL_NAMINGS
    enable_cdi_in_runtime: bool | None = None
    no_runtime_config: bool = False
    no_daemon: bool = False
    install_dir: Path = Path("/usr/local/nvidia")
    pid_file: Path = Path("/run/nvidia/toolkit/toolkit.pid")
    done_file: Path | None = None
    node: str = ""
    pod: str = ""
    distribution: str = "containerd"
    unit: str = "containerd.service"
    fixed: str = ""  # why the top-level file cannot be edited here

    @property
    def wanted(self) -> Wanted:
        """What the runtime should have. A name that is one of the fixed ones stands for `nvidia`, as in NVIDIA's."""
        name = HANDLERS[0] if self.runtime_name in HANDLERS else self.runtime_name
        enable = self.cdi_enabled if self.enable_cdi_in_runtime is None else self.enable_cdi_in_runtime
        return Wanted(handlers=(name, *HANDLERS[1:]), enable_cdi=enable, default=name if self.set_as_default else None)

    @property
    def record(self) -> Path:
        """Where Docker's file is kept as it was before us; the same path here and on the host."""
        return self.journal.with_name("daemon.json")

    @property
    def journal(self) -> Path:
        """Where an unfinished change is remembered, beyond a reboot."""
        return self.install_dir / "toolkit/.lockgate/journal.json"


def _pid_file(value: object) -> Path:
    path = Path(str(value))
    if path.name != "toolkit.pid":
        raise ValueError("its name must be toolkit.pid")
    return path


def _namings(value: object) -> tuple[str, ...]:
    words = tuple(dict.fromkeys(word.strip() for word in str(value).split(",") if word.strip()))
    if not words or set(words) - NAMINGS.keys():
        raise ValueError(f"expected some of {', '.join(NAMINGS)}")
    return words


_DEFAULT: Final = Settings()


def _option(name: str, flags: str, env: str, parse: Callable[[Any], Any] = str) -> Option:
    default = None if name in _BY_RUNTIME else getattr(_DEFAULT, name)
    return Option(name=name, flags=tuple(flags.split()), env=tuple(env.split()), default=default, parse=parse)


_BY_RUNTIME: Final = ("runtime", "config", "drop_in", "socket", "restart_mode")
OPTIONS: Final = (
    _option("runtime", "runtime", "RUNTIME", one_of(*KINDS)),
    _option("config", "config", "RUNTIME_CONFIG CONTAINERD_CONFIG DOCKER_CONFIG CRIO_CONFIG", Path),
    _option("config_host", "", "RUNTIME_CONFIG_HOST_PATH"),
    _option("drop_in", "drop-in-config", "RUNTIME_DROP_IN_CONFIG", Path),
    _option("drop_in_host", "drop-in-config-host-path", "RUNTIME_DROP_IN_CONFIG_HOST_PATH"),
    _option("socket", "socket", "RUNTIME_SOCKET CONTAINERD_SOCKET DOCKER_SOCKET", Path),
    _option("socket_host", "", "RUNTIME_SOCKET_HOST_PATH"),
    _option("restart_mode", "restart-mode", "RUNTIME_RESTART_MODE", one_of(*MODES)),
    _option("host_root", "host-root", "HOST_ROOT_MOUNT", Path),
    _option("driver_root", "driver-root", "NVIDIA_DRIVER_ROOT DRIVER_ROOT"),
    _option("driver_root_ctr", "driver-root-ctr-path", "DRIVER_ROOT_CTR_PATH", Path),
    _option("dev_root", "dev-root", "NVIDIA_DEV_ROOT DEV_ROOT"),
    _option("dev_root_ctr", "dev-root-ctr-path", "DEV_ROOT_CTR_PATH"),
    _option("runtime_name", "runtime-name", "NVIDIA_RUNTIME_NAME CONTAINERD_RUNTIME_CLASS DOCKER_RUNTIME_NAME"),
    _option(
        "set_as_default",
        "set-as-default",
        "NVIDIA_RUNTIME_SET_AS_DEFAULT CONTAINERD_SET_AS_DEFAULT DOCKER_SET_AS_DEFAULT",
        parse_bool,
    ),
    _option("cdi_enabled", "cdi-enabled enable-cdi", "CDI_ENABLED ENABLE_CDI", parse_bool),
    Option(
        name="cdi_output_dir",
        flags=("cdi-output-dir",),
        env=("CDI_OUTPUT_DIR",),
        default=_DEFAULT.cdi_output_dir,
        empty_counts=True,
    ),
    _option("device_names", "device-name-strategy", "NVIDIA_CTK_CDI_GENERATE_DEVICE_NAME_STRATEGIES", _namings),
    _option("enable_cdi_in_runtime", "enable-cdi-in-runtime", "RUNTIME_ENABLE_CDI", parse_bool),
    _option("no_runtime_config", "no-runtime-config", "NO_RUNTIME_CONFIG", parse_bool),
    _option("no_daemon", "no-daemon", "NO_DAEMON", parse_bool),
    _option("install_dir", "toolkit-install-dir root", "TOOLKIT_INSTALL_DIR ROOT", Path),
    _option("pid_file", "pid-file", "TOOLKIT_PID_FILE PID_FILE", _pid_file),
    _option("done_file", "", "TOOLKIT_DONE_FILE", Path),
    _option("node", "", "NODE_NAME"),
    _option("pod", "", "POD_NAME"),
)


def read_settings(
    argv: Sequence[str], environ: Mapping[str, str], *, look: Callable[[Path], str] = lambda _: "containerd"
) -> Settings:
    """Settings from the command line, then the environment. Raises SettingsError for what cannot be used.

    `look` tells the runtime of the host with this root, where nobody has named one.
    """
    values = read_options(OPTIONS, argv, environ, {})
    runtime = values["runtime"] or look(values["host_root"])
    kind = KINDS[runtime]
    given = {name: value for name, value in values.items() if value is not None}
    usual = {"config": Path(kind.config), "socket": Path(kind.socket), "restart_mode": kind.restart_mode}
    settings = Settings(**{**usual, "drop_in": Path(kind.drop_in), "unit": kind.unit, **given, "runtime": runtime})
    if settings.restart_mode not in kind.modes:
        raise SettingsError(
            f"RUNTIME_RESTART_MODE={settings.restart_mode}: {runtime} cannot be restarted like that, "
            f"expected one of {', '.join(kind.modes)}"
        )
    return _on_host(settings, kind)


def _on_host(settings: Settings, kind: Kind) -> Settings:
    """The host's paths where none are given: usual ones for mounts below /runtime, as NVIDIA's operator makes them."""
    settings = msgspec.structs.replace(
        settings,
        config_host=settings.config_host or _host_path(settings.config, kind.config),
        socket_host=settings.socket_host or _host_path(settings.socket, kind.socket),
        drop_in_host=settings.drop_in_host or _host_path(settings.drop_in, kind.drop_in),
    )
    if kind.drop_in:
        return settings
    return msgspec.structs.replace(settings, drop_in=settings.record, drop_in_host=str(settings.record))


def _host_path(inside: Path, usual: str) -> str:
    return usual if inside.is_relative_to("/runtime") else str(inside)
