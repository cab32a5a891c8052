"""`python -m tests.cluster build | run | shell`: the test cluster for a person.

build   make every program and image exist, so that a cluster can start
run     start a cluster, run a command with KUBECONFIG and PATH set for it, end the cluster, exit as the command did
shell   start a cluster and open a shell in which kubectl, kubectl gpu, helm and each node's name are commands
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from deploy.cache import cache_folder
from tests.cluster import Cluster, ClusterError, Node, programs
from tests.cluster.images import build_pause_image, build_test_image
from tests.cluster.programs import MissingProgramError
from tests.cluster.programs.table import CONTAINERD, KUBERNETES

_DEFAULT_NODES = ("gpu-a,containerd=2.4,gpus=2xA100-40GB", "gpu-b,containerd=1.7,gpus=2xA100-40GB")
_BANNER = """
A Kubernetes {version} of your own: {nodes}.
  kubectl get nodes            the cluster; KUBECONFIG is set
  kubectl gpu why pod/NAME     why a GPU pod does not run
  {first}                        a shell on that node ({first} CMD runs one command there)
Leave the shell and all of it is gone.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; the exit status, 2 when this machine cannot run the cluster."""
    options = parser().parse_args(arguments)
    try:
        if options.verb == "build":
            built = programs.ready()
            build_pause_image(cache_folder())
            build_test_image(cache_folder(), built)
            return 0
        command = ["bash", "--norc"] if options.verb == "shell" else options.command
        return with_cluster(options.node or [parse_node(text) for text in _DEFAULT_NODES], options, command)
    except MissingProgramError as error:
        print(error, file=sys.stderr)
        return 2
    except (ClusterError, RuntimeError, TimeoutError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__.partition("\n")[0])
    verbs = top.add_subparsers(dest="verb", required=True)
    verbs.add_parser("build", help="make every program and image exist")
    for name, text in (("run", "run a command beside a cluster"), ("shell", "open a shell beside a cluster")):
        verb = verbs.add_parser(name, help=text)
        verb.add_argument("--install", action="store_true", help="install Lockgate and wait until it is ready")
        verb.add_argument(
            "--node",
            action="append",
            type=parse_node,
            metavar="NAME[,containerd=RELEASE][,gpus=BOARDS]",
            help=f"a node; may be repeated (default: {' and '.join(_DEFAULT_NODES)})",
        )
        if name == "run":
            verb.add_argument("command", nargs="+", metavar="COMMAND")
    return top


def parse_node(text: str) -> Node:
    """A node from the words of `--node`, as argparse calls it."""
    name, *pairs = text.split(",")
    fields = dict(pair.partition("=")[::2] for pair in pairs)
    node = Node(name, containerd=fields.pop("containerd", "2.4"), gpus=fields.pop("gpus", ""))
    if fields or node.containerd not in CONTAINERD:
        raise argparse.ArgumentTypeError(f'"{text}": expected NAME[,containerd={"|".join(CONTAINERD)}][,gpus=BOARDS]')
    return node


def with_cluster(nodes: list[Node], options: argparse.Namespace, command: list[str]) -> int:
    """Start the cluster, install if asked, run the command; its exit status."""
    with Cluster(nodes) as cluster:
        if options.install:
            from tests.cluster import install

            print(f"Lockgate ready {install.install(cluster):.0f} s after its installation began", file=sys.stderr)
        environment = shell_environment(cluster)
        if options.verb == "shell":
            names = ", ".join(cluster.nodes)
            print(_BANNER.format(version=KUBERNETES, nodes=names, first=next(iter(cluster.nodes))), file=sys.stderr)
        return subprocess.run(command, env=environment, check=False).returncode


def shell_environment(cluster: Cluster) -> dict[str, str]:
    """The environment of a shell beside the cluster; its PATH begins with commands made for it."""
    commands = cluster.folder / "bin"
    commands.mkdir()
    for name in ("kubectl", "helm"):
        (commands / name).symlink_to(cluster.program(name))
    for name in ("kubectl-gpu", "lockgate"):
        (commands / name).symlink_to(Path(sys.executable).with_name(name))
    for node in cluster.nodes.values():
        script = commands / node.name
        # nsenter without a command starts a shell.
        script.write_text(f'#!/bin/sh\nexec nsenter --target {node.pid} --all "$@"\n')
        script.chmod(0o755)
    return os.environ | {
        "KUBECONFIG": str(cluster.kubeconfig),
        "PATH": f"{commands}:{os.environ['PATH']}",
        "PS1": "cluster$ ",
    }


if __name__ == "__main__":
    sys.exit(main())
