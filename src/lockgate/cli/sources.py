"""Flags that say where facts come from, the same for every verb that plans, and the facts themselves."""

import argparse
import sys
from typing import TYPE_CHECKING

from lockgate.kit.shown import shown_line

if TYPE_CHECKING:
    from lockgate.collect.live import Access
    from lockgate.model.facts import Snapshot


class FactsError(Exception):
    """There are no facts to work on; `code` is the exit code, the text one line."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


def add_source_arguments(parser: argparse.ArgumentParser) -> None:
    """`--from` and kubectl's flags for a cluster, by kubectl's names."""
    add_from_argument(parser)
    add_cluster_arguments(parser)


def add_from_argument(parser: argparse.ArgumentParser) -> None:
    """`--from PATH`."""
    parser.add_argument(
        "--from",
        dest="source",
        metavar="PATH",
        help="read files instead of a cluster: folder, .tgz, .zip, one file, or - for stdin",
    )


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    """kubectl's flags for a cluster, by kubectl's names."""
    cluster = parser.add_argument_group("cluster")
    cluster.add_argument("--context", help="the kubeconfig context to use")
    cluster.add_argument("--kubeconfig", metavar="PATH", help="the kubeconfig file to use")
    cluster.add_argument("--as", dest="as_user", metavar="USER", help="user to impersonate")
    cluster.add_argument(
        "--as-group", action="append", default=[], metavar="GROUP", help="group to impersonate; may be repeated"
    )
    cluster.add_argument("--request-timeout", default="30s", metavar="DURATION", help="for one request (default 30s)")


def read_facts(options: argparse.Namespace, *, to_place: bool = False, metrics: bool = False) -> "Snapshot":
    """The facts of a whole cluster, live or from files; raises FactsError.

    Of a live one `to_place` reads what moving pods needs, and `metrics` what exporters measure; files are read whole.
    """
    from lockgate.collect.errors import InputError

    try:
        if options.source is None:
            return _live(options, to_place, metrics)
        from lockgate.collect.offline import from_path

        return from_path(options.source, sys.stdin.buffer)
    except InputError as error:
        raise FactsError(str(error), 2) from None


def read_everything(options: argparse.Namespace) -> "Snapshot":
    """What a diagnosis of the whole cluster needs, live or from files; raises FactsError."""
    from lockgate.collect.errors import InputError
    from lockgate.collect.offline import from_path
    from lockgate.collect.wide import from_cluster_wide
    from lockgate.diagnosis.target import CLUSTER
    from lockgate.kube.errors import ApiError, Unreachable

    try:
        if options.source is not None:
            return from_path(options.source, sys.stdin.buffer)
        return from_cluster_wide(access_of(options), CLUSTER, "")
    except InputError as error:
        raise FactsError(str(error), 2) from None
    except (ApiError, Unreachable) as error:
        raise FactsError(str(error), 1) from None


def complain(message: str, code: int) -> int:
    """Say what is wrong on standard error and return the exit code."""
    tell(f"lockgate: {message}")
    return code


def tell(message: str) -> None:
    """A message on standard error: one line for whoever reads a pipe, wrapped for a person at a terminal."""
    line = shown_line(message)
    if sys.stderr.isatty():
        from lockgate.cli.render.lines import wrap

        line = "\n".join(wrap(line, 0))
    sys.stderr.write(f"{line}\n")


def access_of(options: argparse.Namespace) -> "Access":
    """How to reach the cluster that the flags name."""
    from lockgate.collect.live import Access

    return Access(
        kubeconfig=options.kubeconfig,
        context=options.context,
        as_user=options.as_user,
        as_groups=tuple(options.as_group),
        request_timeout=options.request_timeout,
    )


def _live(options: argparse.Namespace, to_place: bool, metrics: bool) -> "Snapshot":
    from lockgate.collect.whole_cluster import from_whole_cluster
    from lockgate.kube.errors import ApiError, Unreachable

    try:
        return from_whole_cluster(access_of(options), to_place=to_place, metrics=metrics)
    except (ApiError, Unreachable) as error:
        raise FactsError(str(error), 1) from None
