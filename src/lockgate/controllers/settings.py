"""The operator's flags and environment, under NVIDIA's names."""

import argparse
import socket
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lockgate import __version__
from lockgate.kube.leader import Timing
from lockgate.model.names import IMAGE

DEFAULT_IMAGE = f"{IMAGE}:{__version__}"
MANAGER = "lockgate-operator"
LEASE = "lockgate-operator"  # not NVIDIA's 53822513.nvidia.com: see docs/decisions/0021-operator.md


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the operator was started with."""

    namespace: str
    image: str
    metrics: tuple[str, int]
    health: tuple[str, int]
    leader_elect: bool
    lease_namespace: str
    timing: Timing
    identity: str
    log_level: str
    capacity_every: float = 0.0  # seconds between two looks at the cluster's capacity; 0: none


def read_settings(argv: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """Parse flags and environment. Ends with exit 2 and one line when something is missing or wrong."""
    parser = _parser()
    flags = parser.parse_args(argv)
    namespace = environ.get("OPERATOR_NAMESPACE", "")
    if not namespace:
        parser.error("OPERATOR_NAMESPACE is not set: it names the namespace of the operands")
    deadline = flags.leader_lease_renew_deadline
    return Settings(
        namespace=namespace,
        image=environ.get("LOCKGATE_IMAGE") or DEFAULT_IMAGE,
        metrics=flags.metrics_bind_address,
        health=flags.health_probe_bind_address,
        leader_elect=flags.leader_elect,
        lease_namespace=flags.leader_elect_namespace or namespace,
        timing=Timing(lease=deadline + 5.0, renew_deadline=deadline, retry=min(2.0, deadline / 5)),
        identity=f"{environ.get('POD_NAME') or socket.gethostname()}_{uuid.uuid4().hex[:8]}",
        log_level=flags.log_level.upper(),
        capacity_every=flags.capacity_metrics_interval,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lockgate-operator", description="Makes GPU nodes of a ClusterPolicy.")
    parser.add_argument("--metrics-bind-address", type=_address, default=_address(":8080"), metavar="HOST:PORT")
    parser.add_argument("--health-probe-bind-address", type=_address, default=_address(":8081"), metavar="HOST:PORT")
    parser.add_argument("--leader-elect", action="store_true", help="work only while holding the lease")
    parser.add_argument("--leader-elect-namespace", default="", help="namespace of the lease (default: the operator's)")
    parser.add_argument("--leader-lease-renew-deadline", type=_seconds, default=10.0, metavar="SECONDS")
    parser.add_argument(
        "--capacity-metrics-interval",
        type=lambda text: 0.0 if text in ("", "0", "0s") else _seconds(text),
        default=0.0,
        metavar="SECONDS",
        help="publish lockgate_gpu_* gauges this often; lists all pods each time (default: never)",
    )
    parser.add_argument("--log-level", default="info", choices=["debug", "info", "warning", "error"])
    return parser


def _address(text: str) -> tuple[str, int]:
    """`:8080`, `127.0.0.1:8080`, `[::]:8080`; port 0 takes a free one."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f'"{text}" is not HOST:PORT')
    return host.strip("[]") or "0.0.0.0", int(port)


def _seconds(text: str) -> float:
    """`10s`, `1m` or `10`, as Go writes durations."""
    units = {"s": 1.0, "m": 60.0}
    number, factor = (text[:-1], units[text[-1]]) if text[-1:] in units else (text, 1.0)
    try:
        seconds = float(number) * factor
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" is not a duration (10s)') from None
    if seconds <= 0:
        raise argparse.ArgumentTypeError(f"a deadline of {text} is never met")
    return seconds
