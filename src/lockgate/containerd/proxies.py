"""Proxy plugins: what containerd makes of them at start, and where it crashes.

Source: LoadPlugins in cmd/containerd/server/server.go and Register in containerd/plugin: a type that it does not know
leaves the registration without one, and that panics.
"""

from __future__ import annotations

from lockgate.containerd.decode import WrongTypeError
from lockgate.containerd.releases import Family
from lockgate.containerd.values import Leaf, Table

_TYPES = {
    "snapshot": "io.containerd.snapshotter.v1",
    "content": "io.containerd.content.v1",
    "diff": "io.containerd.differ.v1",
    "sandbox": "io.containerd.sandbox.controller.v1",
}
_BUILT_IN = frozenset(
    {
        "io.containerd.snapshotter.v1.overlayfs",
        "io.containerd.snapshotter.v1.native",
        "io.containerd.snapshotter.v1.blockfile",
        "io.containerd.content.v1.content",
        "io.containerd.differ.v1.walking",
    }
)


def register_proxies(document: Table, family: Family) -> None:
    """Check the proxy plugins of a loaded configuration, and give each that has `exports` the one that Go adds.

    An empty `[exports]` is a map to go-toml v1 and nothing to v2, unless it is `{}`. Raises WrongTypeError where
    containerd panics.
    """
    proxies = document.get("proxy_plugins")
    if not isinstance(proxies, Table):
        return
    types = {name: _TYPES[name] for name in family.proxy_kinds}
    known = types | {full: full for full in types.values()}
    for name, proxy in proxies.items():
        if isinstance(proxy, Table):
            proxies[name] = _registered(name, proxy, known, family.toml.replaces_maps)


def _registered(name: str, proxy: Table, known: dict[str, str], keeps_empty: bool) -> Table:
    kind = _text(proxy, "type")
    if kind not in known:
        raise WrongTypeError(f'proxy plugin {name} has type "{kind}": plugin: no type', proxy.origin, panics=True)
    if not name:
        raise WrongTypeError("proxy plugin without a name: plugin: no id", proxy.origin, panics=True)
    if (uri := f"{known[kind]}.{name}") in _BUILT_IN:
        raise WrongTypeError(f"{uri}: plugin: id already registered", proxy.origin, panics=True)
    exports = proxy.get("exports")
    if not isinstance(exports, Table) or not (exports or exports.inline or keeps_empty):
        return proxy
    address = proxy.get("address", Leaf("", proxy.origin))
    return Table({**proxy, "exports": Table({**exports, "address": address}, exports.origin)}, proxy.origin)


def _text(proxy: Table, name: str) -> str:
    node = proxy.get(name)
    return str(node.value) if isinstance(node, Leaf) else ""
