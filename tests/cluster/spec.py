"""What a cluster is asked to be, and what its processes tell each other: frozen values that travel as JSON."""

from collections.abc import Mapping

import msgspec


class Node(msgspec.Struct, frozen=True):
    """A node as a test asks for it.

    `containerd` is a release family of the programs' table ("1.7", "2.1", "2.4"), `gpus` the simulator's words for its
    boards ("2xA100-40GB"; "" is a node without), `taints` are "key=value:Effect", `kubelet` is laid over the kubelet's
    configuration.
    """

    name: str
    containerd: str = "2.4"
    gpus: str = ""
    driver_version: str = ""
    labels: dict[str, str] = {}
    taints: tuple[str, ...] = ()
    kubelet: dict[str, object] = {}


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """A program that a supervisor keeps running.

    `waits_for` are paths that must exist before it is started; with `autostart` off it waits until asked for.
    """

    name: str
    argv: tuple[str, ...]
    env: dict[str, str] = {}
    autostart: bool = True
    waits_for: tuple[str, ...] = ()


class Device(msgspec.Struct, frozen=True):
    """A character device node to make."""

    path: str
    major: int
    minor: int


class ControlPlan(msgspec.Struct, frozen=True, tag="control", kw_only=True):
    """The namespace of the control plane: it keeps the machine's files, and has a network of its own with a bridge."""

    hostname: str
    folder: str
    network: tuple[str, ...]  # lines of `ip -batch`
    programs: tuple[Program, ...]


class NodePlan(msgspec.Struct, frozen=True, tag="node", kw_only=True):
    """The namespace of a node: a root file system of its own laid over the machine's, its network, its programs.

    Keys of `links`, `files`, `binds`, `trees` are paths in the node. `binds` are mounted from the machine, `trees`
    copied. `visible` are folders of the machine that must be seen even where they are file systems of their own.
    """

    hostname: str
    folder: str
    visible: tuple[str, ...]
    links: dict[str, str]
    files: dict[str, str]
    binds: dict[str, str]
    trees: dict[str, str]
    devices: tuple[Device, ...]
    network: tuple[str, ...]
    programs: tuple[Program, ...]


class Spec(msgspec.Struct, frozen=True, kw_only=True):
    """What the keeper is told: the nodes, and where the programs and images lie."""

    nodes: tuple[Node, ...]
    programs: dict[str, str]
    cache: str
    base: str  # the folder in which the cluster's own folder is made


class Started(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """What the keeper answers when every process runs and the API server is ready."""

    folder: str
    port: int  # of the API server, on 127.0.0.1
    control: int  # process 1 of the control plane's namespace, as the machine numbers it
    nodes: dict[str, int]


class Failed(msgspec.Struct, frozen=True, tag=True, kw_only=True):
    """What the keeper answers when the cluster did not start."""

    message: str


def flags(given: Mapping[str, object]) -> tuple[str, ...]:
    """A program's command line: `--name=value` for each."""
    return tuple(f"--{name}={value}" for name, value in given.items())
