"""Version 3 to 4: the daemon's own sockets move from the top level into plugin sections.

Source: serviceMigrate in cmd/containerd/server/config/config.go, v2.3.4.
"""

from __future__ import annotations

from lockgate.containerd.values import Leaf, Node, Plain, Table

GRPC = "io.containerd.server.v1.grpc"
GRPC_TCP = "io.containerd.server.v1.grpc-tcp"
TTRPC = "io.containerd.server.v1.ttrpc"
DEBUG = "io.containerd.server.v1.debug"
METRICS = "io.containerd.server.v1.metrics"
PROMETHEUS = "io.containerd.metrics.v1.grpc-prometheus"
_TLS = ("tcp_tls_ca", "tcp_tls_cert", "tcp_tls_key", "tcp_tls_common_name")
_SIZES = ("max_recv_message_size", "max_send_message_size")
_OWNER = ("uid", "gid")


def migrate_server(document: Table) -> None:
    """Move `grpc`, `ttrpc`, `debug` and `metrics` of one file into plugins, only those that are set."""
    plugins = document.get("plugins")
    if not isinstance(plugins, Table):
        plugins = document["plugins"] = Table(origin=document.origin)
    sections = {name: _section(document, name) for name in ("grpc", "ttrpc", "debug", "metrics")}
    grpc = Table(dict(sections["grpc"]), sections["grpc"].origin)
    _debug(sections["debug"], plugins)
    _grpc(sections["grpc"], plugins)
    _ttrpc(sections["ttrpc"], grpc, plugins)
    _metrics(sections["metrics"], plugins)


def _section(document: Table, name: str) -> Table:
    found = document.get(name)
    return found if isinstance(found, Table) else Table(origin=document.origin)


def _get(section: Table, name: str, empty: Plain) -> Leaf:
    node: Node | None = section.get(name)
    return node if isinstance(node, Leaf) else Leaf(empty, section.origin)


def _set(section: Table, name: str) -> bool:
    node = section.get(name)
    return isinstance(node, Leaf) and bool(node.value)


def _socket(section: Table) -> Table:
    entries: dict[str, Node] = {"address": _get(section, "address", "")}
    entries |= {name: _get(section, name, 0) for name in _OWNER}
    return Table(entries, section.origin)


def _drop(section: Table, *names: str) -> None:
    for name in names:
        section.pop(name, None)


def _debug(debug: Table, plugins: Table) -> None:
    if _set(debug, "address") and DEBUG not in plugins:
        plugins[DEBUG] = _socket(debug)
        _drop(debug, "address", *_OWNER)


def _grpc(grpc: Table, plugins: Table) -> None:
    has_socket = any(_set(grpc, name) for name in ("address", *_OWNER, *_SIZES))
    sizes: dict[str, Node] = {name: grpc[name] for name in _SIZES if _set(grpc, name)}
    if has_socket and GRPC not in plugins:
        owner: dict[str, Node] = {name: grpc[name] for name in _OWNER if _set(grpc, name)}
        socket = _socket(grpc) if _set(grpc, "address") else Table(owner, grpc.origin)
        plugins[GRPC] = Table({**socket, **sizes}, grpc.origin)
    has_tcp = _set(grpc, "tcp_address")
    if has_tcp and GRPC_TCP not in plugins:
        tls: dict[str, Node] = {name.removeprefix("tcp_"): grpc[name] for name in _TLS if _set(grpc, name)}
        plugins[GRPC_TCP] = Table({"address": grpc["tcp_address"], **tls, **sizes}, grpc.origin)
    if has_socket or has_tcp:
        grpc.clear()


def _ttrpc(ttrpc: Table, grpc: Table, plugins: Table) -> None:
    if TTRPC in plugins:
        return
    socket = _socket(ttrpc)
    if not _set(ttrpc, "address") and _set(grpc, "address"):
        address = _get(grpc, "address", "")
        socket["address"] = address.with_value(f"{address.value}.ttrpc")
        for name in _OWNER:
            if not _set(ttrpc, name):
                socket[name] = _get(grpc, name, 0)
    if any(_set(socket, name) for name in socket):
        plugins[TTRPC] = socket
        _drop(ttrpc, "address", *_OWNER)


def _metrics(metrics: Table, plugins: Table) -> None:
    if _set(metrics, "grpc_histogram") and PROMETHEUS not in plugins:
        plugins[PROMETHEUS] = Table({"grpc_histogram": metrics.pop("grpc_histogram")}, metrics.origin)
    if _set(metrics, "address") and METRICS not in plugins:
        plugins[METRICS] = Table({"address": metrics.pop("address")}, metrics.origin)
